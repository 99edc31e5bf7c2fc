/* driver.c - driving an endpoint under the virtual clock (driver.h). */
#include "build.h"
#include "fabric-emu/workload/payload.h"
#include "host/error.h"
#include "hxmesh/error.h"
#include "part.h"
#include "stock.h"

#include <math.h>

enum {
    FEWEST_SENDS = 64, /* messages under way from one accelerator */
    RETRIES = 12,
    TIMEOUT_MS = 250, /* of simulated time: nothing is lost but where boards failed */
    MOST_MS = 4000
};
#define PS_PER_NS     UINT64_C(1000)
#define NS_PER_MS     UINT64_C(1000000)
#define LOOK_AGAIN_PS UINT64_C(1000000) /* something is late and could not be asked for */

/* ---- messages ---- */

/* Bytes per picosecond that an accelerator may offer: all links of all planes, times the rate. */
static double offered_per_ps(const struct driver *d)
{
    const struct model *m = d->worker->m;
    return 4.0 * m->g->planes * virtual_timing_link_rate(&m->timing) * m->settings.rate;
}

/* When the next message may begin: at its own time, or when the rate allows it. */
static uint64_t next_begin(const struct driver *d)
{
    const struct model *m = d->worker->m;
    if (m->traffic->flows)
        return traffic_start_ns(m->traffic, d->rank, d->begun) * PS_PER_NS;
    return m->settings.rate < 1 ? (uint64_t)ceil((double)d->offered / offered_per_ps(d)) : 0;
}

static bool time_is_over(const struct driver *d, uint64_t now)
{
    uint64_t duration = d->worker->m->settings.duration_ns;
    return duration && now >= duration * PS_PER_NS;
}

/* Whether what happens now counts in rates and latencies. */
static bool is_warm(const struct driver *d, uint64_t now)
{
    return now >= d->worker->m->settings.warm_up_ns * PS_PER_NS;
}

static bool has_more(const struct driver *d)
{
    return d->begun < d->messages && !time_is_over(d, d->worker->v.now);
}

static void begin_messages(struct driver *d)
{
    const struct model *m = d->worker->m;
    while (has_more(d) && hx_endpoint_takes(&d->endpoint) && next_begin(d) <= d->worker->v.now) {
        struct hx_place to = hx_place_of(m->g, traffic_destination(m->traffic, d->rank, d->begun));
        uint64_t bytes = traffic_bytes(m->traffic, d->rank, d->begun);
        if (hx_endpoint_send(&d->endpoint, to.gx, to.gy, bytes, 0, d->begun) != HX_OK)
            return; /* as many messages to this peer as go are under way */
        d->offered += bytes;
        d->begun++;
    }
}

/* ---- time ---- */

static void note_timers(struct driver *d)
{
    uint64_t now = d->worker->v.now;
    if (d->endpoint.active && !d->timer_noted) {
        d->timer_noted = true;
        uint64_t deadline = hx_endpoint_deadline(&d->endpoint) * PS_PER_NS;
        virtual_entity_note(d->hal.entity, deadline > now ? deadline : now + LOOK_AGAIN_PS, VIRTUAL_ITEM_TIMER);
    }
    if (!d->again_noted && has_more(d) && hx_endpoint_takes(&d->endpoint) && next_begin(d) > now) {
        d->again_noted = true;
        virtual_entity_note(d->hal.entity, next_begin(d), VIRTUAL_ITEM_AGAIN);
    }
}

static void note_done(struct driver *d)
{
    bool done = (d->part ? part_is_over(d->part) : !has_more(d)) && hx_endpoint_idle(&d->endpoint);
    d->worker->active += (uint64_t)d->done - (uint64_t)done;
    d->done = done;
}

static void drive(void *of, bool timer, bool again)
{
    struct driver *d = of;
    if (timer)
        d->timer_noted = false;
    d->again_noted = d->again_noted && !again;
    unsigned looks = timer ? d->endpoint.config.sends : 1; /* a step looks at one deadline */
    do {
        d->news = false;
        if (d->part)
            part_begin(d->part);
        else
            begin_messages(d);
        (void)hx_endpoint_step(&d->endpoint);
        looks -= looks > 0;
    } while (d->news || looks);
    note_timers(d);
    note_done(d);
    d->hal.entity->hungry = d->endpoint.due.filled != 0;
}

/* ---- what the endpoint asks and tells ---- */

static void take_event(void *of, const struct hx_event *event)
{
    struct driver *d = of;
    struct model_area *area = d->worker->area;
    d->news = true;
    if (d->part)
        part_take_event(d->part, event);
    if (event->type != HX_EVENT_RECEIVED)
        atomic_store_explicit(&area->acknowledged, area->acknowledged + 1, memory_order_relaxed);
}

static void take_delivery(void *of, const struct hx_desc *packet, uint64_t when, uint64_t took)
{
    const struct driver *d = of;
    struct model_area *area = d->worker->area;
    if (is_warm(d, when - took))
        fab_histogram_add(&d->job->latency, took / PS_PER_NS);
    area->max_vc = packet->vc > area->max_vc ? packet->vc : area->max_vc;
}

/* Counts what arrived, whatever it is. */
static void note_received(const struct driver *d, unsigned bytes)
{
    struct model_receiver *receiver = &d->worker->m->receiver[d->rank];
    uint64_t now = d->worker->v.now;
    struct model_area *area = d->worker->area;
    receiver->bytes += is_warm(d, now) ? bytes : 0;
    receiver->last = now;
    area->last_delivery = now > area->last_delivery ? now : area->last_delivery;
    if (!is_warm(d, now) || time_is_over(d, now))
        return;
    area->bytes_measured += bytes;
    d->job->bytes_measured += bytes;
}

void driver_note_corrupted(const struct driver *d, uint64_t bytes)
{
    d->worker->area->bytes_corrupted += bytes;
    d->job->bytes_corrupted += bytes;
}

static struct payload_id id_of(const struct driver *d, uint32_t source, uint32_t destination, uint32_t message,
                               uint32_t packet)
{
    return (struct payload_id){d->worker->m->settings.seed, source, destination, message, packet};
}

static void fill(void *of, const struct hx_send *s, uint32_t packet, uint8_t *to, unsigned bytes)
{
    const struct driver *d = of;
    struct payload_id id = id_of(d, d->rank, s->peer, s->message, packet);
    payload_write(&id, to, bytes);
}

static void place(void *of, const struct hx_header *h, const uint8_t *payload)
{
    const struct driver *d = of;
    const struct model *m = d->worker->m;
    note_received(d, h->length);
    if (!m->settings.verify)
        return;
    struct payload_id id = id_of(d, hx_accelerator(m->g, h->src_gx, h->src_gy), d->rank, h->message, h->offset);
    driver_note_corrupted(d, payload_wrong_bytes(&id, payload, h->length));
}

static void fill_part(void *of, const struct hx_send *s, uint32_t packet, uint8_t *to, unsigned bytes)
{
    const struct driver *d = of;
    part_fill(d->part, s->tag, packet, to, bytes);
}

static void place_part(void *of, const struct hx_header *h, const uint8_t *payload)
{
    const struct driver *d = of;
    note_received(d, h->length);
    part_place(d->part, h, payload);
}

/* ---- start ---- */

/* A message to everybody at a time, as far as that goes: each has a packet in turn, so that at any time all cables are
 * loaded as in the whole. (With 64 at a time loads differ by an eighth from cable to cable, and a fabric of a thousand
 * accelerators stays a fifth below its bound.) */
static uint16_t sends_of(const struct driver *d)
{
    uint32_t to = d->worker->m->collective ? 0 : traffic_destinations(d->worker->m->traffic, d->rank);
    uint32_t sends = to < FEWEST_SENDS ? FEWEST_SENDS : to;
    return (uint16_t)(sends < HX_MAX_SENDS ? sends : HX_MAX_SENDS);
}

static uint32_t peers_of(const struct driver *d)
{
    uint32_t peers = d->worker->m->collective ? HX_COLLECTIVE_PEERS : traffic_peers(d->worker->m->traffic, d->rank);
    return peers + 1 < d->worker->m->g->accelerators ? peers + 1 : 0;
}

static struct hx_endpoint_config config_of(const struct driver *d)
{
    const struct model *m = d->worker->m;
    struct hx_place at = hx_place_of(m->g, d->rank);
    return (struct hx_endpoint_config){.gx = at.gx,
                                       .gy = at.gy,
                                       .columns = m->g->columns,
                                       .rows = m->g->rows,
                                       .plane_set = (uint8_t)((1U << m->g->planes) - 1),
                                       .sends = sends_of(d),
                                       .peers = peers_of(d),
                                       .epoch = 1,
                                       .retries = RETRIES,
                                       .check = m->settings.verify,
                                       .job = layout_job_of(m->spec, m->g, d->rank),
                                       .timeout_ns = TIMEOUT_MS * NS_PER_MS,
                                       .least_ns = TIMEOUT_MS * NS_PER_MS,
                                       .most_ns = MOST_MS * NS_PER_MS};
}

void driver_start(struct driver *d, struct worker *w, struct virtual_entity *e, uint32_t rank)
{
    *d = (struct driver){.worker = w,
                         .job = &w->m->job[w->m->jobs.slot[rank]],
                         .rank = rank,
                         .messages = traffic_messages(w->m->traffic, rank),
                         .done = true};
    d->hal = (struct hal_endpoint){.worker = &w->v, .entity = e, .planes = w->m->g->planes, .drops = w->area->drops};
    d->hal.user = (struct virtual_user){.place = place, .event = take_event, .delivered = take_delivery};
    if (w->m->settings.verify)
        d->hal.user.fill = fill;
    if (w->m->collective) {
        d->messages = 0;
        d->part = part_new(d);
        d->hal.user.fill = w->m->settings.verify ? fill_part : NULL;
        d->hal.user.place = d->part ? place_part : place;
    }
    d->hal.of = d;
    d->hal.rank = rank;
    d->hal.firmware = &d->endpoint;
    for (unsigned plane = 0; plane < d->hal.planes; plane++) {
        d->hal.plane[plane].sw = &e->node[plane].hal;
        e->node[plane].hal.endpoint = &d->hal;
    }
    const struct hx_endpoint_config config = config_of(d);
    if (hx_endpoint_init(&d->endpoint, &config, &d->hal, virtual_stock_take(hx_endpoint_bytes(&config))) != HX_OK)
        hx_die(HX_EXIT_CONFIG, w->m->spec->source, "endpoint a%u,%u cannot be built", config.gx, config.gy);
    e->endpoint = &d->hal;
    e->drive = drive;
    e->of = d;
    d->again_noted = true;
    virtual_entity_note(e, 0, VIRTUAL_ITEM_AGAIN);
    note_done(d);
}
