/* driver.c - drives an endpoint under the virtual clock (driver.h). */
#include "driver.h"
#include "arena.h"
#include "base/error.h"
#include "faults.h"
#include "hxmesh/error.h"
#include "open_loop.h"
#include "state.h"
#include "workload/endpoint.h"

#include <math.h>

enum {
    MOST_SENDS_TO_FEW = 64, /* messages in flight on a plane from one accelerator to fewer destinations than that */
    MOST_BY_RANK = 1024,    /* hosts, at most, where an endpoint has a place for each peer */
    MAPS_BYTES = 4 << 10,   /* limits of in_huge_pages() */
    SECOND_BYTES = 32 << 10,
    OFTEN_BYTES = 128 << 10, /* more is for peers that an endpoint may never meet */
    RETRIES = 12,
    TIMEOUT_MS = 250, /* simulated; only failed boards lose packets */
    MOST_MS = 4000,
    /* With faults of links: */
    LEAST_US = 5,
    FIRST_US = 50, /* before the first acknowledgement */
    MOST_US = 200, /* from probe to probe */
    PROBES = 50,
    UNREACHABLE_US = 2000, /* a message without a path waits this long; then its sender is notified */
    NS_PER_US = 1000
};
#define LOOK_AGAIN_PS UINT64_C(1000000) /* retry of a late timer */

/* ---- messages ---- */

static void note_corrupted(const struct driver *d, uint64_t bytes)
{
    d->worker->area->bytes_corrupted += bytes;
    d->job->bytes_corrupted += bytes;
}

static bool has_stopped(const struct driver *d, uint64_t now)
{
    return now >= d->worker->stops;
}

/* Whether receivers count what happens at `now`. */
static bool is_warm(const struct driver *d, uint64_t now)
{
    return now >= d->worker->warm;
}

/* Whether rates and latencies count what happens at `now`. */
static bool is_measured(const struct driver *d, uint64_t now)
{
    return is_warm(d, now) && now < d->worker->over;
}

/* A host's last sum comes after its last message. */
static void note_summed(struct driver *d)
{
    struct model_area *area = d->worker->area;
    uint64_t summed = d->workload->summed;
    area->last_delivery = summed > area->last_delivery ? summed : area->last_delivery;
    d->job->last_ps = summed > d->job->last_ps ? summed : d->job->last_ps;
}

static void finish(struct driver *d)
{
    if (!workload_is_due(d->workload, d->worker->v.now))
        return;
    d->worker->area->collectives_done++;
    note_summed(d);
    note_corrupted(d, workload_finish(d->workload));
}

static bool is_marked(const struct driver *d, uint64_t due)
{
    return d->open && open_loop_marks(d->worker, due);
}

static void note_begun(struct driver *d, uint64_t due)
{
    bool marked = is_marked(d, due);
    d->marked += marked;
    d->worker->area->marked += marked;
}

/* The message has arrived and is acknowledged, or it has failed: then there is nothing to wait for. */
static void note_ended(struct driver *d, const struct hx_event *event)
{
    struct model_area *area = d->worker->area;
    if (!is_marked(d, event->cookie))
        return;
    d->marked--;
    if (area->stopped)
        return;
    area->arrived += event->type == HX_EVENT_SENT;
    area->marked -= event->type == HX_EVENT_FAILED;
    area->last_marked = d->worker->v.now > area->last_marked ? d->worker->v.now : area->last_marked;
}

/* Counts the time since the host had nothing left to inject, while a message waited for its pair's window. */
static void count_window_wait(struct driver *d, uint64_t now)
{
    uint64_t since = d->idle_since > d->worker->warm ? d->idle_since : d->worker->warm;
    uint64_t until = now < d->worker->over ? now : d->worker->over;
    if (since < until)
        d->worker->area->window_wait += until - since;
    d->idle_since = WORKLOAD_NEVER;
}

/* Notes when the host has nothing left to inject, if a message of its pattern waits for its pair's window. */
static void note_idle(struct driver *d)
{
    if (!d->refused || d->endpoint.due.filled || d->idle_since != WORKLOAD_NEVER)
        return;
    d->idle_since = d->worker->v.now;
    for (unsigned plane = 0; plane < d->hal.planes; plane++) {
        uint64_t injected = d->hal.plane[plane].inject_free;
        d->idle_since = injected > d->idle_since ? injected : d->idle_since;
    }
}

/* Whether events cannot make the workload send before its wake time. */
static bool ignores_events(const struct driver *d)
{
    const struct workload_ops *ops = d->workload->ops;
    return d->wake != WORKLOAD_NEVER && ops->wake && !ops->event;
}

static void begin_messages(struct driver *d)
{
    uint64_t now = d->worker->v.now;
    bool asked = now >= d->wake || (d->news && !ignores_events(d));
    d->news = false;
    if (!asked)
        return;
    struct workload *w = d->workload;
    struct workload_message m;
    finish(d);
    count_window_wait(d, now);
    d->refused = false;
    for (uint32_t refused = 0;
         hx_endpoint_takes(&d->endpoint) && !has_stopped(d, now) && workload_next(w, now, refused, &m);) {
        struct hx_coordinate to = hx_address_of(d->worker->m->g, m.to);
        if (hx_endpoint_send(&d->endpoint, to.addr_hi, to.addr_lo, m.bytes, m.tag, m.due) != HX_OK) {
            refused |= (uint32_t)1 << m.queue;
            d->refused = w->ops->message != NULL;
            continue;
        }
        workload_take(w, &m);
        note_begun(d, m.due);
    }
    uint64_t wake = workload_wake(w);
    d->wake = wake > now ? wake : WORKLOAD_NEVER; /* otherwise an event precedes it */
}

/* ---- time ---- */

static void note_deadline(struct driver *d, uint64_t now)
{
    uint64_t deadline = hx_endpoint_deadline(&d->endpoint) * PS_PER_NS;
    uint64_t look = deadline > now ? deadline : now + LOOK_AGAIN_PS;
    if (d->timer_noted)
        virtual_sim_node_note_sooner(d->hal.sim_node, look, VIRTUAL_ITEM_TIMER);
    else
        virtual_sim_node_note(d->hal.sim_node, look, VIRTUAL_ITEM_TIMER);
    d->timer_noted = true;
}

/* Notes the workload's wake time, and the next destination if messages are numbered. */
static void note_wake(struct driver *d)
{
    const struct workload_ops *ops = d->workload->ops;
    struct workload_message m;
    if (d->again_noted)
        virtual_sim_node_note_sooner(d->hal.sim_node, d->wake, VIRTUAL_ITEM_AGAIN);
    else
        virtual_sim_node_note(d->hal.sim_node, d->wake, VIRTUAL_ITEM_AGAIN);
    d->again_noted = true;
    d->again_at = d->wake;
    d->hal.next_to = ops->message && ops->message(d->workload, d->begun, &m) ? m.to : HX_NOWHERE;
}

static void note_timers(struct driver *d)
{
    uint64_t now = d->worker->v.now;
    if (d->endpoint.active && (d->routes_changed || !d->timer_noted))
        note_deadline(d, now);
    d->routes_changed = false;
    bool waits = d->wake != WORKLOAD_NEVER && hx_endpoint_takes(&d->endpoint) && !has_stopped(d, now);
    if (waits && (!d->again_noted || d->wake < d->again_at))
        note_wake(d);
}

static bool is_done(const struct driver *d)
{
    if (d->open && !d->worker->area->stopped)
        return d->marked == 0 && workload_wake(d->workload) >= d->worker->over;
    return hx_endpoint_idle(&d->endpoint) && (has_stopped(d, d->worker->v.now) || workload_is_over(d->workload));
}

static void note_done(struct driver *d)
{
    bool done = is_done(d);
    if (done == d->done)
        return;
    d->worker->active += (uint64_t)d->done - (uint64_t)done;
    d->done = done;
}

void driver_wake(struct driver *d, uint64_t at)
{
    d->wake = at < d->wake ? at : d->wake;
    if (!d->again_noted || d->wake < d->again_at)
        note_wake(d);
    note_done(d);
}

void driver_stopped(struct driver *d)
{
    note_done(d);
}

uint64_t driver_marked_waiting(struct driver *d)
{
    uint64_t marked = 0;
    struct workload_message m;
    while (d->open && d->worker->area->stopped && workload_next(d->workload, d->worker->over - 1, 0, &m)) {
        marked += is_marked(d, m.due);
        workload_take(d->workload, &m);
    }
    return marked;
}

static void drive(void *of, bool timer, bool again)
{
    struct driver *d = of;
    if (timer)
        d->timer_noted = false;
    d->again_noted = d->again_noted && !again;
    unsigned looks = timer || d->routes_changed ? d->endpoint.config.sends : 1; /* a step checks one deadline */
    do {
        begin_messages(d);
        (void)hx_endpoint_step(&d->endpoint);
        looks -= looks > 0;
    } while (d->news || looks);
    note_idle(d);
    note_timers(d);
    note_done(d);
    d->hal.sim_node->hungry = d->endpoint.due.filled != 0;
}

/* ---- callbacks of the endpoint ---- */

static void take_event(void *of, const struct hx_event *event)
{
    struct driver *d = of;
    struct model_area *area = d->worker->area;
    struct model_progress *progress = d->worker->progress;
    d->news = true;
    if (workload_event(d->workload, d->worker->v.now, event) != HX_OK) {
        d->workload->ended = true;
        area->collective_ended = true;
    }
    if (event->type != HX_EVENT_RECEIVED && d->worker->faults)
        faults_note_end(d->worker->faults, d->rank, hx_fabric_host(d->worker->m->g, event->addr_hi, event->addr_lo),
                        event->message, d->worker->v.now);
    if (event->type == HX_EVENT_RECEIVED)
        return;
    note_ended(d, event);
    atomic_store_explicit(&progress->acknowledged, progress->acknowledged + 1, memory_order_relaxed);
}

/* Whether packets of the host's job carry marks: a job with a count has none, beside jobs with a duration. */
static bool has_marks(const struct driver *d)
{
    return d->worker->open.of_job[d->worker->m->jobs.slot[d->rank]];
}

/* At a rate the latency counts from when the message was due. */
static void count_from_due(const struct driver *d, uint32_t wait, uint64_t when, uint64_t took, uint64_t behind)
{
    struct worker *w = d->worker;
    uint64_t all = took + behind + virtual_waited_ns(wait) * PS_PER_NS;
    bool marked = virtual_is_marked(wait);
    if (w->open.on)
        open_loop_count(w, marked, when - all, all);
    if (has_marks(d) ? !marked : !is_measured(d, when - all))
        return;
    fab_histogram_add(&d->job->latency, all / PS_PER_NS);
    fab_histogram_add(&d->job->network, took / PS_PER_NS);
}

static void take_delivery(void *of, const struct hx_desc *packet, uint64_t when, uint64_t took, uint64_t behind)
{
    const struct driver *d = of;
    struct model_area *area = d->worker->area;
    const uint8_t *frame = virtual_pool_frame(&d->worker->v.pool, packet->buffer);
    area->max_vc = packet->vc > area->max_vc ? packet->vc : area->max_vc;
    if (frame[HX_AT_KIND] != HX_DATA)
        return;
    if (d->hal.counts_waits)
        count_from_due(d, virtual_wait(frame), when, took, behind);
    else if (is_measured(d, when - took))
        fab_histogram_add(&d->job->latency, took / PS_PER_NS);
}

/* Counts received payload of any kind. */
static void note_received(const struct driver *d, unsigned bytes)
{
    uint64_t now = d->worker->v.now;
    struct model_area *area = d->worker->area;
    struct job_count *job = d->job;
    unsigned warm = is_warm(d, now) ? bytes : 0;
    unsigned measured = is_measured(d, now) ? bytes : 0;
    d->worker->open.now.bytes += bytes;
    d->receiver->bytes += warm;
    d->receiver->last = now;
    job->last_ps = now > job->last_ps ? now : job->last_ps; /* visits are not in the order of time */
    area->last_delivery = now > area->last_delivery ? now : area->last_delivery;
    area->bytes_measured += measured;
    job->bytes_measured += measured;
}

static void fill(void *of, const struct hx_send *s, uint32_t packet, uint8_t *to, unsigned bytes)
{
    struct driver *d = of;
    d->hal.since = workload_is_common(&d->worker->m->workload, d->rank) ? UINT64_MAX : s->cookie;
    d->hal.marked = is_marked(d, s->cookie);
    if (d->workload->carries)
        d->workload->ops->fill(d->workload, s, packet, to, bytes);
}

static void place(void *of, const struct hx_header *h, const uint8_t *payload)
{
    const struct driver *d = of;
    note_received(d, h->length);
    if (d->workload->carries)
        note_corrupted(d, workload_place(d->workload, h, payload));
}

/* ---- start ---- */

/* Messages that an endpoint may have in flight. With many destinations each has one, so that packets in turn load all
 * cables alike. With few, their windows are the limit, and one slot stays free. Under faults the number of slots sets
 * how often each deadline is checked. */
static uint16_t sends_of(const struct model *m, uint32_t rank)
{
    const struct workload_load load = workload_load_of(&m->workload, rank);
    const uint32_t few = MOST_SENDS_TO_FEW * m->g->planes;
    uint32_t to = load.destinations;
    if (to >= few)
        return (uint16_t)(to < HX_MAX_SENDS ? to : HX_MAX_SENDS);
    uint32_t taken = to && !m->faults ? to * (load.again ? hx_peer_window(m->g->planes) : 1) + 1 : few;
    return (uint16_t)(taken < few ? taken : few);
}

static uint32_t peers_of(const struct model *m, uint32_t rank)
{
    uint32_t peers = workload_load_of(&m->workload, rank).peers;
    if (peers + 1 < m->g->hosts)
        return peers + 1;
    return m->g->hosts <= MOST_BY_RANK ? 0 : m->g->hosts;
}

static struct hx_endpoint_config config_of(const struct model *m, uint32_t rank)
{
    struct hx_endpoint_config config = endpoint_config(m->g, rank);
    config.sends = sends_of(m, rank);
    config.peers = peers_of(m, rank);
    config.epoch = 1;
    config.retries = RETRIES;
    config.check = m->settings.verify;
    config.at_once = workload_load_of(&m->workload, rank).at_once;
    config.job = layout_job_of(m->spec, rank);
    config.timeout_ns = config.least_ns = TIMEOUT_MS * NS_PER_MS;
    config.most_ns = MOST_MS * NS_PER_MS;
    if (m->faults) {
        config.timeout_ns = FIRST_US * NS_PER_US;
        config.least_ns = LEAST_US * NS_PER_US;
        config.most_ns = MOST_US * NS_PER_US;
        config.retries = PROBES;
        config.unreachable_ns = UNREACHABLE_US * NS_PER_US;
    }
    return config;
}

/* Whether few of the possible messages are in flight at once, as with an injection rate. Untouched slots then take no
 * memory. */
static bool has_few_pending(const struct model *m)
{
    return m->workload.rate > 0;
}

/* Bytes of each part of an endpoint in huge pages; each part is in them whole or not at all. Rarely touched parts use
 * small pages, so that they take no memory. Small parts use huge pages, because page table walks would cost more. Parts
 * for second or long messages are not touched without such messages. */
static struct hx_endpoint_sizes in_huge_pages(const struct model *m, uint32_t rank, const struct hx_endpoint_sizes *all)
{
    const struct workload_load load = workload_load_of(&m->workload, rank);
    bool second = load.again && all->second <= SECOND_BYTES;
    bool maps = load.longer && all->maps <= MAPS_BYTES;
    return (struct hx_endpoint_sizes){.often = all->often <= OFTEN_BYTES ? all->often : 0,
                                      .pending = has_few_pending(m) ? 0 : all->pending,
                                      .second = second ? all->second : 0,
                                      .maps = maps ? all->maps : 0};
}

static void *take_memory(size_t bytes, size_t huge)
{
    return huge ? virtual_arena_take(bytes) : virtual_arena_take_small(bytes);
}

uint64_t driver_bytes(const struct model *m, uint32_t rank)
{
    const struct hx_endpoint_config config = config_of(m, rank);
    const struct hx_endpoint_sizes all = hx_endpoint_sizes(&config);
    const struct hx_endpoint_sizes huge = in_huge_pages(m, rank, &all);
    return sizeof(struct driver) + huge.often + huge.pending + huge.second + huge.maps +
           workload_bytes(&m->workload, rank);
}

static void start_workload(struct driver *d)
{
    const struct model *m = d->worker->m;
    d->workload = workload_make(&m->workload, d->rank, &d->begun, NULL, NULL,
                                virtual_arena_take(workload_bytes(&m->workload, d->rank)));
    d->hal.user_data = d->workload;
    d->hal.user_bytes = (uint32_t)d->workload->ops->bytes;
    d->hal.user = (struct hal_user){.place = place, .event = take_event, .of = d};
    d->hal.delivered = take_delivery;
    d->hal.counts_waits = m->workload.rate > 0;
    if (d->workload->carries || d->hal.counts_waits)
        d->hal.user.fill = fill;
}

uint64_t driver_block(const struct model *m, uint32_t rank)
{
    double links = hx_host_injection(m->g, rank, m->workload.link_gbps);
    return (uint64_t)ceil(HX_BLOCK * 8 * 1000 * 65536.0 / (links * m->workload.link_gbps));
}

static void start_endpoint(struct driver *d)
{
    const struct model *m = d->worker->m;
    const struct hx_endpoint_config config = config_of(m, d->rank);
    const struct hx_endpoint_sizes bytes = hx_endpoint_sizes(&config);
    const struct hx_endpoint_sizes huge = in_huge_pages(m, d->rank, &bytes);
    const struct hx_endpoint_memory memory = {.often = take_memory(bytes.often, huge.often),
                                              .pending = take_memory(bytes.pending, huge.pending),
                                              .second = take_memory(bytes.second, huge.second),
                                              .maps = take_memory(bytes.maps, huge.maps),
                                              .reports = take_memory(bytes.reports, huge.reports)};
    if (hx_endpoint_init_apart(&d->endpoint, &config, &d->hal, &memory) != HX_OK)
        hx_die(HX_EXIT_CONFIG, m->spec->source, "endpoint a%u,%u cannot be built", config.addr_hi, config.addr_lo);
}

void driver_start(struct driver *d, struct worker *w, struct virtual_sim_node *e, uint32_t rank)
{
    *d = (struct driver){.worker = w,
                         .job = &w->m->job[w->m->jobs.slot[rank]],
                         .receiver = &w->m->receiver[rank],
                         .rank = rank,
                         .open = open_loop_is_of(w, rank),
                         .idle_since = WORKLOAD_NEVER,
                         .news = true,
                         .done = true};
    d->hal = (struct hal_endpoint){.worker = &w->v,
                                   .sim_node = e,
                                   .next_to = HX_NOWHERE,
                                   .since = UINT64_MAX,
                                   .block = driver_block(w->m, rank),
                                   .planes = (uint8_t)w->m->g->planes,
                                   .train = (uint8_t)w->v.timing.train,
                                   .drops = w->area->drops};
    start_workload(d);
    d->hal.rank = rank;
    d->hal.hears_again = workload_load_of(&w->m->workload, rank).again;
    d->hal.firmware = &d->endpoint;
    for (unsigned plane = 0; plane < d->hal.planes; plane++) {
        d->hal.plane[plane].sw = &e->node[plane].hal;
        e->node[plane].hal.endpoint = &d->hal;
    }
    start_endpoint(d);
    e->endpoint = &d->hal;
    e->drive = drive;
    e->of = d;
    d->again_noted = true;
    virtual_sim_node_note(e, 0, VIRTUAL_ITEM_AGAIN);
    note_done(d);
}
