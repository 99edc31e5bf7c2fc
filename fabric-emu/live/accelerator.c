/* accelerator.c - driving an endpoint (accelerator.h). */
#include "accelerator.h"
#include "collective_part.h"
#include "fabric-emu/workload/payload.h"
#include "host/error.h"
#include "host/random.h"
#include "hxmesh/error.h"

#include <stdlib.h>
#include <string.h>

enum {
    SENDS = 8,          /* messages under way from one accelerator */
    RETRIES = 12,       /* beginning with a second and no longer than MOST_MS: given up after a minute */
    HOPELESS_TRIES = 3, /* where boards stay down and nobody answers */
    NO_WAY_MS = 2000,   /* where there seems to be no way; a restart takes milliseconds */
    TIMEOUT_MS = 1000,  /* before any answer came */
    LEAST_MS = 250,     /* workers share cores: an answer may take many time slices */
    MOST_MS = 8000
};
#define NS_PER_MS UINT64_C(1000000)
static const double plane_bytes_per_ns = 4 * HX_NOMINAL_LINK_RATE / 1e9;

/* ---- messages ---- */

static uint32_t destination_of(const struct accelerator *a, uint64_t message)
{
    const struct worker *w = a->worker;
    return w->transfer ? transfer_destination(w->transfer, message) : traffic_destination(w->traffic, a->rank, message);
}

static uint64_t bytes_of(const struct accelerator *a, uint64_t message)
{
    const struct worker *w = a->worker;
    return w->transfer ? transfer_chunk_bytes(w->transfer, transfer_chunk(w->transfer, message))
                       : traffic_bytes(w->traffic, a->rank, message);
}

static uint32_t tag_of(const struct accelerator *a, uint64_t message)
{
    return a->worker->transfer ? (uint32_t)transfer_chunk(a->worker->transfer, message) : 0;
}

static uint64_t messages_of(const struct accelerator *a)
{
    const struct worker *w = a->worker;
    if (w->transfer)
        return a->rank == w->transfer->source ? transfer_messages(w->transfer) : 0;
    if (w->collective)
        return 0; /* the program has its own */
    return traffic_messages(w->traffic, a->rank);
}

static uint64_t *record_of(struct accelerator *a, uint64_t number)
{
    for (unsigned i = 0; i < FAB_SENDS; i++) {
        if (a->report->flying[i] == number)
            return &a->report->flying[i];
    }
    return NULL;
}

/* Hands message number `message` to the endpoint; false: not now. */
static bool begin(struct accelerator *a, uint64_t message)
{
    struct hx_place to = hx_place_of(&a->worker->f->g, destination_of(a, message));
    uint64_t bytes = bytes_of(a, message);
    if (hx_endpoint_send(&a->endpoint, to.gx, to.gy, bytes, tag_of(a, message), message) != HX_OK)
        return false;
    a->offered += bytes;
    return true;
}

/* The lowest record above `after`. */
static uint64_t next_record(const struct accelerator *a, uint64_t after)
{
    uint64_t next = UINT64_MAX;
    for (unsigned i = 0; i < FAB_SENDS; i++) {
        uint64_t number = a->report->flying[i];
        next = number > after && number < next ? number : next;
    }
    return next;
}

/* Messages that a predecessor had begun and not finished go first, in their order: a file's chunks need it. */
static bool resume(struct accelerator *a)
{
    while (a->resumed < a->predecessor) {
        uint64_t number = next_record(a, a->resumed);
        if (number > a->predecessor)
            number = a->predecessor;
        else if (!begin(a, number - 1))
            return false;
        a->resumed = number;
    }
    return true;
}

/* ---- destinations without a way ---- */

static bool is_cut_off(const struct accelerator *a, uint32_t rank)
{
    return a->worker->gone >> a->worker->f->layout.worker[rank] & 1U || (a->cut_off && a->cut_off[rank]);
}

static void note_cut_off(struct accelerator *a, uint32_t rank)
{
    if (!a->cut_off)
        a->cut_off = hx_allocate(a->worker->f->g.accelerators, sizeof *a->cut_off);
    a->cut_off[rank] = true;
}

static void forget_cut_off(struct accelerator *a)
{
    free(a->cut_off);
    a->cut_off = NULL;
}

void accelerator_look_again(struct accelerator *a)
{
    forget_cut_off(a);
    hx_endpoint_routes_changed(&a->endpoint);
}

/* Where somebody may come back the supervisor says for how long; tries made meanwhile are forgotten when he does. */
void accelerator_give_up(struct accelerator *a)
{
    struct hx_endpoint *ep = &a->endpoint;
    bool may_come_back = fab_misses_cable(a->worker->f);
    /* Where boards stay down, an answer may have no way though the message had one: nobody says so. */
    unsigned tries = a->worker->gone ? HOPELESS_TRIES : RETRIES;
    for (unsigned i = 0; ep->active && i < ep->config.sends; i++) {
        const struct hx_send *s = &ep->send[i];
        if (s->active && (is_cut_off(a, s->peer) || (s->tries >= tries && !may_come_back)))
            hx_endpoint_abandon(ep, s->dst_gx, s->dst_gy);
    }
}

/* The next message has nobody to go to: it counts as given up. */
static void give_up_next(struct accelerator *a)
{
    a->endpoint.stats.messages_failed++;
    a->report->stats.messages_failed = a->endpoint.stats.messages_failed;
    a->report->issued++;
}

/* The next message may begin: its time has come, and the rate allows it. */
static bool is_due(const struct accelerator *a)
{
    const struct worker *w = a->worker;
    if (w->transfer)
        return true;
    if (w->traffic->flows)
        return accelerator_wait_ns(a) == 0;
    if (w->traffic->settings.rate >= 1)
        return true;
    uint64_t begun_ns = w->f->control->started_ns > a->started_ns ? w->f->control->started_ns : a->started_ns;
    double ns = (double)(w->shm.now - begun_ns);
    return (double)a->offered <= ns * plane_bytes_per_ns * w->f->g.planes * w->traffic->settings.rate;
}

uint64_t accelerator_wait_ns(const struct accelerator *a)
{
    const struct worker *w = a->worker;
    if (!w->traffic || !w->traffic->flows || a->report->issued >= a->messages)
        return UINT64_MAX;
    uint64_t start = w->f->control->started_ns + traffic_start_ns(w->traffic, a->rank, a->report->issued);
    return start > w->shm.now ? start - w->shm.now : 0;
}

static void begin_messages(struct accelerator *a)
{
    while (a->report->issued < a->messages && hx_endpoint_takes(&a->endpoint) && is_due(a)) {
        if (is_cut_off(a, destination_of(a, a->report->issued))) {
            give_up_next(a);
            return; /* one a step: with a duration there is no end to them */
        }
        uint64_t *record = record_of(a, 0);
        if (!record || !begin(a, a->report->issued))
            return;
        *record = a->report->issued + 1;
        a->report->issued++;
    }
}

/* ---- what the endpoint asks and tells ---- */

static struct payload_id id_of(const struct accelerator *a, uint32_t source, uint32_t destination, uint32_t message,
                               uint32_t packet)
{
    return (struct payload_id){a->worker->traffic->settings.seed, source, destination, message, packet};
}

static void fill_traffic(void *of, const struct hx_send *s, uint32_t packet, uint8_t *to, unsigned bytes)
{
    struct accelerator *a = of;
    uint64_t begin_ns = shm_clock_ns(a->worker->clock);
    struct payload_id id = id_of(a, a->rank, s->peer, s->message, packet);
    payload_write(&id, to, bytes);
    a->area->verify_ns += shm_clock_ns(a->worker->clock) - begin_ns;
}

void accelerator_note_corrupted(struct accelerator *a, uint64_t bytes)
{
    a->area->bytes_corrupted += bytes;
    a->job->bytes_corrupted += bytes;
}

static void check_traffic(void *of, const struct hx_header *h, const uint8_t *payload)
{
    struct accelerator *a = of;
    uint64_t begin_ns = shm_clock_ns(a->worker->clock);
    uint32_t source = hx_accelerator(&a->worker->f->g, h->src_gx, h->src_gy);
    struct payload_id id = id_of(a, source, a->rank, h->message, h->offset);
    accelerator_note_corrupted(a, payload_wrong_bytes(&id, payload, h->length));
    a->area->verify_ns += shm_clock_ns(a->worker->clock) - begin_ns;
}

static void fill_file(void *of, const struct hx_send *s, uint32_t packet, uint8_t *to, unsigned bytes)
{
    struct accelerator *a = of;
    transfer_fill(a->worker->transfer, s->tag, packet, to, bytes);
}

static void place_file(void *of, const struct hx_header *h, const uint8_t *payload)
{
    struct accelerator *a = of;
    if (a->receiver)
        accelerator_note_corrupted(a, transfer_place(a->receiver, h->tag, h->offset, payload, h->length));
}

/* What passed between this accelerator and the one that an entry says is elsewhere. */
static struct fab_exchange *exchange_with(const struct accelerator *a, unsigned external)
{
    const struct fab_fabric *f = a->worker->f;
    return &f->exchange[(size_t)external * f->g.accelerators + a->rank];
}

static void count_exchange(const struct accelerator *a, const struct hx_event *event)
{
    const struct fab_fabric *f = a->worker->f;
    unsigned external = fab_external(f, hx_accelerator(&f->g, event->gx, event->gy));
    if (external == f->spec.externals)
        return;
    struct fab_exchange *e = exchange_with(a, external);
    struct fab_sum *sum = event->type == HX_EVENT_SENT ? &e->to : &e->from;
    sum->messages++;
    sum->packets += event->bytes ? (event->bytes + HX_MAX_PAYLOAD - 1) / HX_MAX_PAYLOAD : 1;
    sum->bytes += event->bytes;
}

static void take_event(void *of, const struct hx_event *event)
{
    struct accelerator *a = of;
    if (event->type != HX_EVENT_FAILED)
        count_exchange(a, event);
    if (event->type == HX_EVENT_RECEIVED) {
        if (a->receiver)
            transfer_complete(a->receiver, event->tag);
        return;
    }
    if (event->type == HX_EVENT_FAILED)
        note_cut_off(a, hx_accelerator(&a->worker->f->g, event->gx, event->gy));
    uint64_t *record = record_of(a, event->cookie + 1);
    if (record)
        *record = 0;
    a->report->stats = a->endpoint.stats; /* a message is given up in steps that move nothing */
}

static void note_delivery(void *of, const struct hx_desc *d, uint64_t nanoseconds)
{
    struct accelerator *a = of;
    const struct worker *w = a->worker;
    uint64_t warm_up = w->traffic ? w->traffic->settings.warm_up_ns : 0;
    if (warm_up == 0 || w->shm.now >= w->f->control->started_ns + warm_up + nanoseconds)
        fab_histogram_add(&a->job->latency, nanoseconds);
    a->area->max_vc = d->vc > a->area->max_vc ? d->vc : a->area->max_vc;
}

/* ---- life ---- */

/* The accelerator of an entry of those that run elsewhere; this one itself, if an entry before it had it. */
static uint32_t rank_of_first(const struct accelerator *a, unsigned external)
{
    const struct fab_fabric *f = a->worker->f;
    const struct hx_external *e = &f->spec.external[external];
    uint32_t rank = hx_accelerator(&f->g, e->gx, e->gy);
    return fab_external(f, rank) == external ? rank : a->rank;
}

static uint64_t come_from_elsewhere(const struct accelerator *a)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < a->worker->f->spec.externals; i++)
        sum += exchange_with(a, i)->from.messages;
    return sum;
}

/* But for what each life has of its own. Room for everybody: who is never met costs nothing. */
static struct hx_endpoint_config config_of(const struct worker *w, uint32_t rank)
{
    const struct hx_geometry *g = &w->f->g;
    struct hx_place at = hx_place_of(g, rank);
    return (struct hx_endpoint_config){.gx = at.gx,
                                       .gy = at.gy,
                                       .columns = g->columns,
                                       .rows = g->rows,
                                       .plane_set = (uint8_t)((1U << g->planes) - 1),
                                       .sends = w->transfer || w->collective ? FAB_SENDS : SENDS,
                                       .peers = g->accelerators - 1,
                                       .retries = UINT8_MAX, /* accelerator_give_up() says */
                                       .check = w->verify || w->f->spec.externals > 0,
                                       .job = layout_job_of(&w->f->spec, g, rank),
                                       .timeout_ns = TIMEOUT_MS * NS_PER_MS,
                                       .least_ns = LEAST_MS * NS_PER_MS,
                                       .most_ns = MOST_MS * NS_PER_MS,
                                       .no_way_ns = w->f->spec.externals ? UINT64_MAX : NO_WAY_MS * NS_PER_MS};
}

size_t accelerator_bytes(const struct worker *w, uint32_t rank)
{
    const struct hx_endpoint_config config = config_of(w, rank);
    return (hx_endpoint_bytes(&config) + 63) & ~(size_t)63;
}

/* What a predecessor left, as far as it can be true. It may have been killed between any two stores: a message is under
 * way before it counts as begun, and no longer under way before it counts as acknowledged. */
static void take_over(struct accelerator *a)
{
    struct fab_accelerator *report = a->report;
    uint64_t flying = 0;
    for (unsigned i = 0; i < FAB_SENDS; i++) {
        if (report->flying[i] > a->messages)
            report->flying[i] = 0;
        flying += report->flying[i] != 0;
        a->predecessor = report->flying[i] > a->predecessor ? report->flying[i] : a->predecessor;
    }
    if (report->issued < a->predecessor)
        report->issued = a->predecessor;
    uint64_t over = flying + report->stats.messages_failed;
    if (!a->part && a->area->incarnation > 1)
        a->endpoint.stats.messages_sent = report->issued > over ? report->issued - over : 0;
}

void accelerator_start(struct accelerator *a, void *memory)
{
    const struct worker *w = a->worker;
    struct hx_endpoint_config config = config_of(w, a->rank);
    config.epoch = hx_random_epoch();
    config.key = hx_random_64();
    a->started_ns = shm_clock_ns(w->clock);
    a->hal.user.event = take_event;
    a->hal.user.delivered = note_delivery;
    if (w->collective)
        a->part = collective_part_new(a);
    else if (w->verify || w->transfer) {
        a->hal.user.fill = w->transfer ? fill_file : fill_traffic;
        a->hal.user.place = w->transfer ? place_file : check_traffic;
    }
    if (hx_endpoint_init(&a->endpoint, &config, &a->hal, memory) != HX_OK)
        hx_die(HX_EXIT_CONFIG, w->f->spec.source, "endpoint a%u,%u cannot be built", a->gx, a->gy);
    a->endpoint.stats = a->report->stats;
    a->hal.sent = &a->endpoint.stats.packets_sent;
    a->hal.sent_shown = &a->report->stats.packets_sent;
    a->messages = messages_of(a);
    for (unsigned i = 0; i < w->f->spec.externals; i++)
        a->awaited += traffic_messages_between(w->traffic, rank_of_first(a, i), a->rank);
    take_over(a);
    if (w->transfer && transfer_is_target(w->transfer, a->rank) && !atomic_load(&a->report->file_done))
        a->receiver = transfer_receiver_new(w->transfer, w->f, a->rank);
}

void accelerator_stop(struct accelerator *a)
{
    forget_cut_off(a);
    transfer_receiver_free(a->receiver);
    collective_part_free(a->part);
}

unsigned accelerator_step(struct accelerator *a, bool may_begin)
{
    if (a->part)
        collective_part_step(a->part, may_begin);
    else if (resume(a) && may_begin && a->report->issued < a->messages)
        begin_messages(a);
    unsigned work = hx_endpoint_step(&a->endpoint);
    if (work)
        a->report->stats = a->endpoint.stats;
    return work;
}

bool accelerator_is_done(const struct accelerator *a, bool may_begin)
{
    bool over = !a->part || collective_part_is_over(a->part);
    bool come = come_from_elsewhere(a) >= a->awaited;
    bool begun = !may_begin || (over && come && a->report->issued >= a->messages);
    return begun && a->resumed >= a->predecessor && hx_endpoint_idle(&a->endpoint);
}
