/* accelerator.c - drives a host's endpoint (accelerator.h). */
#include "accelerator.h"
#include "base/error.h"
#include "base/random.h"
#include "conditions.h"
#include "hxmesh/error.h"
#include "paths.h"
#include "workload/endpoint.h"

#include <stdlib.h>
#include <string.h>

enum {
    SENDS = 8,             /* messages in flight of one host */
    USUAL_RECORDS = 16,    /* of FAB_SENDS: two cache lines; numbers in flight are rarely farther apart */
    FEW_HOSTS = 256,       /* up to here the endpoint knows all peers from the start: a cache line each */
    UNREACHABLE_MS = 2000, /* without a path; a restart takes milliseconds */
    DEAD_ENDS = 64         /* times without news that a message in one is tried anew at once */
};

/* ---- messages ---- */

/* Returns the record that holds `what` (0: a free one); NULL: none. Tries the usual record of this number first. */
static uint64_t *record_with(struct accelerator *a, uint64_t what, uint64_t number)
{
    uint64_t *usual = &a->report->flying[number % USUAL_RECORDS];
    if (*usual == what)
        return usual;
    for (unsigned i = 0; i < FAB_SENDS; i++) {
        if (a->report->flying[i] == what)
            return &a->report->flying[i];
    }
    return NULL;
}

static uint64_t *record_of(struct accelerator *a, uint64_t number)
{
    return record_with(a, number, number);
}

/* Hands a message to the endpoint. Returns false: try again. */
static bool begin(struct accelerator *a, const struct workload_message *m)
{
    struct hx_coordinate to = hx_address_of(a->worker->f->g, m->to);
    return hx_endpoint_send(&a->endpoint, to.addr_hi, to.addr_lo, m->bytes, m->tag, m->number) == HX_OK;
}

static void begin_hit(struct accelerator *a, const uint64_t *record)
{
    uint64_t bit = record ? (uint64_t)1 << (record - a->report->flying) : 0;
    bool is_new = bit && !(a->hit & bit);
    a->area->hit += is_new;
    a->area->hit_ever += is_new;
    a->hit |= bit;
}

/* Counts messages that a fault hit: they wait for a path, or their packets were repeated after a late
 * acknowledgement. */
static void note_hits(struct accelerator *a)
{
    const struct hx_endpoint *ep = &a->endpoint;
    bool repeated = ep->stats.packets_repeated != a->repeated;
    a->repeated = ep->stats.packets_repeated;
    for (unsigned i = 0; i < ep->config.sends && (repeated || ep->plane_failures); i++) {
        const struct hx_send *s = &ep->send[i];
        if (s->active && (s->waits || (repeated && s->probes)))
            begin_hit(a, record_of(a, s->cookie + 1));
    }
}

/* Ends the hit of a record's message. */
static void end_hit(struct accelerator *a, const uint64_t *record, bool failed)
{
    uint64_t bit = (uint64_t)1 << (record - a->report->flying);
    if (!(a->hit & bit) && !failed)
        return;
    a->area->hit -= (a->hit & bit) != 0;
    a->area->hit_ever += !(a->hit & bit);
    a->area->hit_over_ns = a->worker->shm.now;
    a->hit &= ~bit;
}

/* Returns the lowest record above `after`; UINT64_MAX: none. */
static uint64_t next_record(const struct accelerator *a, uint64_t after)
{
    uint64_t next = UINT64_MAX;
    for (unsigned i = 0; i < FAB_SENDS; i++) {
        uint64_t number = a->report->flying[i];
        next = number > after && number < next ? number : next;
    }
    return next;
}

/* Begins again what a predecessor left unfinished, in order: the chunks of a file need it. */
static bool resume(struct accelerator *a)
{
    const struct workload *w = a->workload;
    struct workload_message m;
    while (a->resumed < a->predecessor) {
        uint64_t number = next_record(a, a->resumed);
        if (number > a->predecessor)
            number = a->predecessor;
        else if (w->ops->message(w, number - 1, &m) && !begin(a, &m))
            return false;
        else
            begin_hit(a, record_of(a, number));
        a->resumed = number;
    }
    return true;
}

/* ---- destinations without a path ---- */

/* Returns what is known of the paths between this host and another. */
static uint8_t *paths_of(struct accelerator *a, uint32_t rank)
{
    if (!a->paths)
        a->paths = hx_allocate(a->worker->f->g->hosts, sizeof *a->paths);
    return &a->paths[rank];
}

static bool is_cut_off(const struct accelerator *a, uint32_t rank)
{
    return a->worker->gone >> a->worker->f->layout.worker[rank] & 1U || (a->paths && a->paths[rank] == PATHS_CUT_OFF) ||
           conditions_host_is_alone(a->worker, rank, UNREACHABLE_MS * NS_PER_MS);
}

static bool has_paths(struct accelerator *a, uint32_t rank)
{
    uint8_t *paths = paths_of(a, rank);
    if (*paths == PATHS_UNKNOWN)
        *paths = paths_lead(a->worker, a->rank, rank) ? PATHS_LEAD : PATHS_MISSING;
    return *paths == PATHS_LEAD;
}

static void forget_paths(struct accelerator *a)
{
    free(a->paths);
    a->paths = NULL;
}

void accelerator_paths_changed(struct accelerator *a)
{
    forget_paths(a);
    memset(a->dead_ends, 0, sizeof a->dead_ends);
    hx_endpoint_routes_changed(&a->endpoint);
}

/* Whether a late message has no path, there or back, and none is to be expected; or too many probes had no news. */
static bool is_hopeless(struct accelerator *a, const struct hx_send *s, uint32_t rank)
{
    const struct worker *w = a->worker;
    bool settled = w->shm.now > w->paths_since + UNREACHABLE_MS * NS_PER_MS;
    return s->tries >= WAIT_RETRIES || (settled && (s->waits || s->unanswered) && !has_paths(a, rank));
}

/* Whether a message waits although it has a path: adaptive nodes led its packets into a dead end. */
static bool missed_its_path(struct accelerator *a, const struct hx_send *s, uint32_t rank)
{
    return s->waits && s->unanswered > 1 && has_paths(a, rank);
}

/* Counts a dead end of a message. Returns whether it may be sent again: most nodes choose another way then. */
static bool may_try_again(struct accelerator *a, const struct hx_send *s, uint32_t rank)
{
    struct dead_ends *d = &a->dead_ends[s - a->endpoint.send];
    bool goes_on = d->rank == rank && d->message == s->message && d->acked == s->acked;
    *d = (struct dead_ends){rank, s->message, s->acked, goes_on ? d->times + 1 : 1};
    return d->times <= DEAD_ENDS;
}

/* While a cable is missing, the supervisor limits the wait. Tries in that time do not count. */
void accelerator_give_up(struct accelerator *a)
{
    struct hx_endpoint *ep = &a->endpoint;
    bool may_come_back = fab_misses_cable(a->worker->f);
    for (unsigned i = 0; ep->active && i < ep->config.sends; i++) {
        const struct hx_send *s = &ep->send[i];
        if (!s->active)
            continue;
        uint32_t rank = hx_fabric_host(a->worker->f->g, s->dst_addr_hi, s->dst_addr_lo);
        if (is_cut_off(a, rank) || (!may_come_back && is_hopeless(a, s, rank)))
            hx_endpoint_abandon(ep, s->dst_addr_hi, s->dst_addr_lo);
        else if (missed_its_path(a, s, rank) && may_try_again(a, s, rank))
            hx_endpoint_try_anew(ep, i);
    }
}

/* Fails a message before it is begun: its host is cut off. */
static void give_up_at_once(struct accelerator *a, const struct workload_message *m)
{
    a->endpoint.stats.messages_failed++;
    a->report->stats.messages_failed = a->endpoint.stats.messages_failed;
    workload_give_up(a->workload, m);
}

/* Returns picoseconds since the start of the run; 0 before it. */
static uint64_t run_ps(const struct accelerator *a)
{
    uint64_t started_ns = a->worker->f->control->started_ns;
    return started_ns && a->worker->shm.now > started_ns ? (a->worker->shm.now - started_ns) * WORKLOAD_PS : 0;
}

/* Whether messages in flight are to be failed. */
static bool is_draining(const struct accelerator *a)
{
    return workload_drains(a->workload, run_ps(a));
}

uint64_t accelerator_wait_ns(const struct accelerator *a)
{
    uint64_t wake = workload_wake(a->workload);
    uint64_t now = run_ps(a);
    if (wake == WORKLOAD_NEVER)
        return UINT64_MAX;
    return wake > now ? (wake - now + WORKLOAD_PS - 1) / WORKLOAD_PS : 0;
}

/* Tries to begin a deferred message. */
static bool begin_deferred(void *of, const struct workload_message *m)
{
    return begin(of, m);
}

/* Begins a message, or defers it if others may pass it. Returns false: try again. */
static bool begin_or_defer(struct accelerator *a, const struct workload_message *m)
{
    if (begin(a, m))
        return true;
    if (a->workload->ops->passes)
        deferred_put(&a->deferred, m);
    return a->workload->ops->passes;
}

static void begin_messages(struct accelerator *a)
{
    struct workload_message m;
    uint64_t now = run_ps(a);
    for (uint32_t refused = 0; hx_endpoint_takes(&a->endpoint) && workload_next(a->workload, now, refused, &m);) {
        if (is_cut_off(a, m.to)) {
            give_up_at_once(a, &m);
            return; /* one a step: with a duration there is no last one */
        }
        uint64_t *record = record_with(a, 0, m.number + 1);
        if (!record)
            return;
        if (begin_or_defer(a, &m)) {
            *record = m.number + 1;
            workload_take(a->workload, &m);
        } else {
            refused |= (uint32_t)1 << m.queue;
        }
    }
}

/* ---- callbacks of the endpoint ---- */

static void fill(void *of, const struct hx_send *s, uint32_t packet, uint8_t *to, unsigned bytes)
{
    struct accelerator *a = of;
    uint64_t begin_ns = shm_clock_ns(a->worker->clock);
    a->workload->ops->fill(a->workload, s, packet, to, bytes);
    a->area->verify_ns += shm_clock_ns(a->worker->clock) - begin_ns;
}

static void note_corrupted(struct accelerator *a, uint64_t bytes)
{
    a->area->bytes_corrupted += bytes;
    a->job->bytes_corrupted += bytes;
}

static void place(void *of, const struct hx_header *h, const uint8_t *payload)
{
    struct accelerator *a = of;
    uint64_t begin_ns = shm_clock_ns(a->worker->clock);
    note_corrupted(a, workload_place(a->workload, h, payload));
    a->area->verify_ns += shm_clock_ns(a->worker->clock) - begin_ns;
}

/* Counters of messages between this host and an external one. */
static struct fab_exchange *exchange_with(const struct accelerator *a, unsigned external)
{
    const struct fab_fabric *f = a->worker->f;
    return &f->exchange[(size_t)external * f->g->hosts + a->rank];
}

static void count_exchange(const struct accelerator *a, const struct hx_event *event)
{
    const struct fab_fabric *f = a->worker->f;
    unsigned external = fab_external(f, hx_fabric_host(f->g, event->addr_hi, event->addr_lo));
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
    if (workload_event(a->workload, run_ps(a), event) != HX_OK)
        atomic_store(&a->worker->f->control->collective_ended, 1);
    if (event->type == HX_EVENT_RECEIVED)
        return;
    if (event->type == HX_EVENT_FAILED && !(is_draining(a) && workload_gives_up(a->workload, event->cookie)))
        *paths_of(a, hx_fabric_host(a->worker->f->g, event->addr_hi, event->addr_lo)) = PATHS_CUT_OFF;
    uint64_t *record = record_of(a, event->cookie + 1);
    if (record) {
        end_hit(a, record, event->type == HX_EVENT_FAILED);
        *record = 0;
    }
    a->report->stats = a->endpoint.stats; /* failing a message is no work of a step */
}

static void note_deliveries(void *of, const struct hx_desc *burst, unsigned n)
{
    struct accelerator *a = of;
    const struct worker *w = a->worker;
    const struct traffic *t = w->workload->traffic;
    uint64_t warm_up = t ? t->settings.warm_up_ns : 0;
    uint64_t begun = w->f->control->started_ns + warm_up;
    uint32_t max_vc = a->area->max_vc;
    a->job->last_ps = run_ps(a);
    for (unsigned i = 0; i < n; i++) {
        uint64_t age = shm_age(&w->shm, &burst[i]);
        bool is_data = hal_frame(&a->hal, burst[i].buffer)[HX_AT_KIND] == HX_DATA;
        if (is_data && (warm_up == 0 || w->shm.now >= begun + age))
            fab_histogram_add(&a->job->latency, age);
        max_vc = burst[i].vc > max_vc ? burst[i].vc : max_vc;
    }
    a->area->max_vc = max_vc;
}

/* ---- life ---- */

/* Returns the host of an external entry; this host itself if an earlier entry has the same host. */
static uint32_t rank_of_first(const struct accelerator *a, unsigned external)
{
    const struct fab_fabric *f = a->worker->f;
    const struct hx_external *e = &f->spec.external[external];
    uint32_t rank = hx_host_at(f->g, e->addr_hi, e->addr_lo);
    return fab_external(f, rank) == external ? rank : a->rank;
}

static uint64_t messages_from_external(const struct accelerator *a)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < a->worker->f->spec.externals; i++)
        sum += exchange_with(a, i)->from.messages;
    return sum;
}

/* Settings that are equal for each incarnation. A small fabric keeps all peers, found by rank. A large one takes memory
 * for a peer at first contact. */
static struct hx_endpoint_config config_of(const struct worker *w, uint32_t rank)
{
    const struct hx_fabric *g = w->f->g;
    struct hx_endpoint_config config = endpoint_config(g, rank);
    endpoint_waits(&config);
    bool many =
        w->workload->transfer || w->workload->packets || w->workload->programs || workload_is_common(w->workload, rank);
    config.sends = many ? FAB_SENDS : SENDS;
    config.peers = g->hosts <= FEW_HOSTS ? 0 : g->hosts;
    config.retries = UINT8_MAX; /* accelerator_give_up() decides */
    config.check = worker_checks(w);
    config.at_once = workload_load_of(w->workload, rank).at_once;
    config.job = layout_job_of(&w->f->spec, rank);
    config.unreachable_ns = UINT64_MAX;
    return config;
}

size_t accelerator_bytes(const struct worker *w, uint32_t rank)
{
    const struct hx_endpoint_config config = config_of(w, rank);
    return (hx_endpoint_bytes(&config) + 63) & ~(size_t)63;
}

/* Takes over a predecessor's records, as far as they are consistent: it may have died between any two stores. A message
 * is recorded before it counts as begun, and its record ends before it counts as acknowledged. */
static void take_over(struct accelerator *a)
{
    struct fab_accelerator *report = a->report;
    const struct workload *w = a->workload;
    struct workload_message m;
    uint64_t flying = 0;
    for (unsigned i = 0; i < FAB_SENDS; i++) {
        if (report->flying[i] && !(w->ops->message && w->ops->message(w, report->flying[i] - 1, &m)))
            report->flying[i] = 0;
        flying += report->flying[i] != 0;
        a->predecessor = report->flying[i] > a->predecessor ? report->flying[i] : a->predecessor;
    }
    workload_follow(a->workload, a->predecessor, (unsigned)flying);
    uint64_t over = flying + report->stats.messages_failed;
    if (w->ops->message && a->area->incarnation > 1)
        a->endpoint.stats.messages_sent = report->issued > over ? report->issued - over : 0;
}

/* A common task cannot resume: after a restart it has ended, and needs no payload. */
static void start_workload(struct accelerator *a)
{
    struct workload_plan plan = *a->worker->workload;
    bool ended = workload_is_common(&plan, a->rank) && a->area->incarnation > 1;
    plan.verify = plan.verify && !ended;
    a->workload = workload_make(&plan, a->rank, &a->report->issued, &a->report->asked, &a->report->file,
                                hx_allocate(1, workload_bytes(&plan, a->rank)));
    a->workload->ended = ended;
    if (!a->workload->carries)
        return;
    a->hal.user.fill = fill;
    a->hal.user.place = place;
}

void accelerator_start(struct accelerator *a, void *memory)
{
    const struct worker *w = a->worker;
    struct hx_endpoint_config config = config_of(w, a->rank);
    config.epoch = hx_random_epoch();
    config.key = hx_random_64();
    a->hal.user.event = take_event;
    a->hal.delivered = note_deliveries;
    start_workload(a);
    if (hx_endpoint_init(&a->endpoint, &config, &a->hal, memory) != HX_OK)
        hx_die(HX_EXIT_CONFIG, w->f->spec.source, "endpoint a%u,%u cannot be built", a->gx, a->gy);
    a->endpoint.stats = a->report->stats;
    a->hal.sent = &a->endpoint.stats.packets_sent;
    a->hal.sent_shown = &a->report->stats.packets_sent;
    for (unsigned i = 0; i < w->f->spec.externals; i++)
        a->awaited += traffic_messages_between(w->workload->traffic, rank_of_first(a, i), a->rank);
    a->repeated = a->endpoint.stats.packets_repeated;
    take_over(a);
}

void accelerator_stop(struct accelerator *a)
{
    forget_paths(a);
    deferred_free(&a->deferred);
    workload_close(a->workload);
    free(a->workload);
}

/* Fails a deferred message that drains with those in flight. */
static bool give_up_deferred(void *of, const struct workload_message *m)
{
    struct accelerator *a = of;
    if (!workload_gives_up(a->workload, m->number))
        return false;
    struct hx_coordinate to = hx_address_of(a->worker->f->g, m->to);
    const struct hx_event failed = {.type = HX_EVENT_FAILED,
                                    .error = HX_E_UNREACHABLE,
                                    .addr_hi = (uint16_t)to.addr_hi,
                                    .addr_lo = (uint16_t)to.addr_lo,
                                    .tag = m->tag,
                                    .bytes = m->bytes,
                                    .cookie = m->number};
    a->endpoint.stats.messages_failed++;
    take_event(a, &failed);
    return true;
}

/* Fails all that a program had in flight when it has left. */
static void drain(struct accelerator *a)
{
    struct hx_endpoint *ep = &a->endpoint;
    unsigned left = 0;
    if (!is_draining(a) || a->resumed < a->predecessor)
        return;
    deferred_each(&a->deferred, give_up_deferred, a);
    for (unsigned i = 0; ep->active && i < ep->config.sends; i++) {
        if (!ep->send[i].active || !workload_gives_up(a->workload, ep->send[i].cookie))
            continue;
        hx_endpoint_abandon_one(ep, i);
        left++;
    }
    if (!left)
        a->workload->ops->drained(a->workload);
}

/* A common task ends for all hosts when one of them is lost. */
static void end_common(struct accelerator *a)
{
    const struct fab_control *control = a->worker->f->control;
    if (atomic_load_explicit(&control->changes, memory_order_relaxed) ||
        atomic_load_explicit(&control->collective_ended, memory_order_relaxed))
        a->workload->ended = true;
}

static void finish(struct accelerator *a)
{
    if (!workload_is_due(a->workload, run_ps(a)))
        return;
    uint64_t begin_ns = shm_clock_ns(a->worker->clock);
    note_corrupted(a, workload_finish(a->workload));
    a->area->verify_ns += shm_clock_ns(a->worker->clock) - begin_ns;
    atomic_store(&a->report->collective_done, 1);
}

unsigned accelerator_step(struct accelerator *a, bool may_begin)
{
    if (workload_is_common(a->worker->workload, a->rank)) {
        end_common(a);
        finish(a);
    }
    if (resume(a)) {
        deferred_each(&a->deferred, begin_deferred, a);
        if (may_begin)
            begin_messages(a);
    }
    drain(a);
    unsigned work = hx_endpoint_step(&a->endpoint);
    if (work) {
        note_hits(a);
        a->report->stats = a->endpoint.stats;
    }
    return work;
}

bool accelerator_is_done(const struct accelerator *a, bool may_begin)
{
    bool received = messages_from_external(a) >= a->awaited;
    bool begun = !may_begin || (workload_is_over(a->workload) && received);
    return begun && a->resumed >= a->predecessor && !a->deferred.count && hx_endpoint_idle(&a->endpoint);
}
