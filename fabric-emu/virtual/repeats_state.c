/* repeats_state.c - fields of switches, links, endpoints and counters of a worker (repeats_state.h). */
#include "repeats_state.h"
#include "base/error.h"
#include "endpoint_parts.h"
#include "order.h"

#include <stdlib.h>

/* ---- events ---- */

/* Time of an item; VIRTUAL_NEVER: not noted. Each is noted once at most. */
static uint64_t time_of(const struct virtual_event_queue *q, unsigned item)
{
    for (unsigned i = q->first; i < q->end; i++)
        if (virtual_event_queue_item(q->key[i]) == item)
            return q->key[i] >> VIRTUAL_ITEM_BITS;
    return VIRTUAL_NEVER;
}

static bool has_others(const struct virtual_event_queue *q)
{
    unsigned known = (unsigned)(time_of(q, VIRTUAL_ITEM_AGAIN) != VIRTUAL_NEVER) +
                     (unsigned)(time_of(q, VIRTUAL_ITEM_TIMER) != VIRTUAL_NEVER);
    return virtual_event_queue_count(q) != known;
}

uint64_t repeats_state_first(const struct worker *w)
{
    uint64_t first = VIRTUAL_NEVER;
    for (uint32_t i = 0; i < w->sim_nodes; i++) {
        uint64_t at = time_of(&w->sim_node[i]->event_queue, VIRTUAL_ITEM_AGAIN);
        first = at < first ? at : first;
    }
    return first;
}

/* Visits a time that may be "never". */
static void walk_time(struct state_walk *walk, uint64_t *time, uint64_t never)
{
    STATE_FIELD(walk, *time, *time == never ? STATE_EQUAL : STATE_TIME);
}

static void walk_events(struct virtual_event_queue *q, struct state_walk *walk)
{
    const uint64_t again_before = time_of(q, VIRTUAL_ITEM_AGAIN);
    uint64_t again = again_before;
    uint64_t timer = time_of(q, VIRTUAL_ITEM_TIMER);
    walk_time(walk, &again, VIRTUAL_NEVER);
    STATE_FIELD(walk, timer, STATE_STILL);
    if (again == again_before)
        return;
    virtual_event_queue_open(q, q->key, q->room);
    virtual_event_queue_note(q, again, VIRTUAL_ITEM_AGAIN);
    if (timer != VIRTUAL_NEVER)
        virtual_event_queue_note(q, timer, VIRTUAL_ITEM_TIMER);
}

void repeats_state_settle(struct worker *w, uint64_t window)
{
    virtual_wheel_clear(&w->v.wheel, window);
    for (uint32_t i = 0; i < w->sim_nodes; i++) {
        uint64_t next = virtual_event_queue_time(&w->sim_node[i]->event_queue);
        if (next != VIRTUAL_NEVER)
            virtual_wheel_add(&w->v.wheel, i, next);
    }
}

/* ---- switches and links ---- */

static bool is_empty(const struct virtual_rx *rx, uint64_t by)
{
    return rx->head == rx->tail && rx->ready == rx->tail && rx->crossbar_free <= by && rx->last_credit <= by;
}

/* Takes the credit that is back, which the next packet would do. */
static bool is_free(struct virtual_tx *tx, uint64_t by)
{
    (void)virtual_credit_there(tx, by);
    bool opens = tx->opens <= by || tx->opens == VIRTUAL_NEVER;
    bool whole = virtual_credits_next(&tx->back) == virtual_credit_time(VIRTUAL_NO_CREDIT) && !tx->back.awaited;
    return opens && whole && tx->link_free <= by && tx->crossbar_free <= by;
}

static bool switch_rests(const struct virtual_node *n, uint64_t by)
{
    const struct hal_switch *h = &n->hal;
    uint64_t any = h->news | h->blocked | h->credit_blocked | h->credit_noted | h->small;
    any |= n->sw.wanted[0] | n->sw.wanted[1] | n->sw.wanted[2] | n->sw.wanted[3];
    bool rests = any == 0 && (!h->forwarding || h->forwarding->free <= by);
    for (unsigned port = 0; port < h->ports && rests; port++)
        rests = is_empty(&h->rx[port], by) && is_free(&h->tx[port], by);
    return rests;
}

/* A pointer that rotates through `of` places. turned: it decided something in this period. */
static void walk_turn(struct state_walk *walk, uint8_t *turn, unsigned of, bool turned)
{
    uint64_t at = *turn;
    STATE_FIELD(walk, at, turned ? STATE_STILL : STATE_COUNT);
    int64_t rest = (int64_t)at % (int64_t)of;
    *turn = (uint8_t)(rest < 0 ? rest + (int64_t)of : rest);
}

static void walk_switch(const struct worker *w, const struct virtual_sim_node *e, unsigned plane, uint64_t since,
                        struct state_walk *walk)
{
    struct virtual_node *n = &e->node[plane];
    struct hx_switch *sw = &n->sw;
    bool turned = *virtual_order_turned(w->v.order, e->index, plane) >= since;
    STATE_FIELD(walk, sw->tie, STATE_COUNT);
    walk_turn(walk, &sw->first_input, sw->inputs, turned);
    walk_turn(walk, &sw->first_vc, sw->route.vcs, turned);
    for (unsigned i = 0; i < (unsigned)sw->route.vcs * sw->outputs; i++)
        STATE_FIELD(walk, sw->next_input[i], STATE_STILL);
    for (unsigned port = 0; port < n->hal.ports; port++) {
        struct virtual_tx *tx = &n->hal.tx[port];
        STATE_FIELD(walk, tx->lanes, STATE_EQUAL);
        STATE_FIELD(walk, tx->sum.packets, STATE_COUNT);
        STATE_FIELD(walk, tx->sum.blocks, STATE_COUNT);
    }
}

/* ---- endpoints ---- */

static bool driver_rests(const struct driver *d, uint64_t by)
{
    const struct hx_endpoint *ep = &d->endpoint;
    bool rests = hx_endpoint_idle(ep) && !ep->due.filled && !ep->plane_failures && !ep->abandons && !d->news &&
                 !d->routes_changed && !d->hal.eject_noted;
    for (unsigned plane = 0; plane < d->hal.planes; plane++) {
        const struct virtual_port *p = &d->hal.plane[plane];
        rests = rests && p->eject.head == p->eject.tail && p->eject.last <= by && p->inject_free <= by && p->due <= by;
    }
    const struct executor *e = workload_executor(d->workload);
    return rests && (e ? executor_rests(e) : workload_is_over(d->workload) && d->wake == WORKLOAD_NEVER);
}

static bool is_used(const struct hx_endpoint *ep, const struct hx_peer *peer)
{
    return peer->next_message || peer->first.packets || ep->rest_of[peer - ep->peer];
}

/* Messages that arrived from a peer, all whole. */
static uint32_t received_from(const struct hx_endpoint *ep, struct hx_peer *peer)
{
    unsigned slots = ep->rest_of[peer - ep->peer] ? ep->window : 1;
    uint32_t next = 0;
    for (unsigned slot = 0; slot < slots; slot++) {
        uint32_t number = hx_endpoint_number_at(ep, peer, slot);
        bool is_message = hx_endpoint_slot_of(ep, number) == slot;
        next = is_message && (next == 0 || (int32_t)(number + 1 - next) > 0) ? number + 1 : next;
    }
    return next;
}

/* The slots as after the message before `next`, which is of the kind of the last one. */
static void set_received(const struct hx_endpoint *ep, struct hx_peer *peer, uint32_t last, uint32_t next)
{
    uint8_t done = hx_endpoint_slot(ep, peer, hx_endpoint_slot_of(ep, last))->state;
    for (unsigned slot = 0; slot < ep->window && slot < next; slot++) {
        struct hx_receive *r = hx_endpoint_slot(ep, peer, slot);
        r->message = next - 1 - hx_endpoint_slot_of(ep, next - 1 - slot);
        r->state = done;
    }
}

static void walk_peer(const struct hx_endpoint *ep, struct hx_peer *peer, struct state_walk *walk)
{
    const uint32_t before = received_from(ep, peer);
    uint32_t received = before;
    STATE_FIELD(walk, peer->rank, STATE_STILL);
    state_walk_value(walk, peer->next_message % ep->plane_end, STATE_EQUAL); /* its first plane */
    STATE_FIELD(walk, peer->next_message, STATE_COUNT);
    STATE_FIELD(walk, received, STATE_COUNT);
    if (received != before)
        set_received(ep, peer, before - 1, received);
}

static void walk_endpoint(struct hx_endpoint *ep, unsigned planes, unsigned train, struct state_walk *walk)
{
    struct hx_endpoint_stats *s = &ep->stats;
    state_walk_value(walk, planes > 1 ? s->packets_sent % (planes * train) : 0,
                     STATE_EQUAL); /* first plane of a search */
    for (unsigned plane = 0; plane < planes; plane++) {
        STATE_FIELD(walk, ep->turn[plane], STATE_EQUAL);
        STATE_FIELD(walk, ep->most_room[plane], STATE_EQUAL);
    }
    STATE_FIELD(walk, ep->timer, STATE_STILL);
    STATE_FIELD(walk, ep->soonest, STATE_STILL);
    STATE_FIELD(walk, ep->sweep, STATE_STILL);
    STATE_FIELD(walk, s->messages_sent, STATE_COUNT);
    STATE_FIELD(walk, s->messages_received, STATE_COUNT);
    STATE_FIELD(walk, s->messages_failed, STATE_STILL);
    STATE_FIELD(walk, s->packets_sent, STATE_COUNT);
    STATE_FIELD(walk, s->packets_repeated, STATE_STILL);
    STATE_FIELD(walk, s->probes_sent, STATE_STILL);
    STATE_FIELD(walk, s->packets_delivered, STATE_COUNT);
    STATE_FIELD(walk, s->bytes_delivered, STATE_COUNT);
    STATE_FIELD(walk, s->acks_sent, STATE_COUNT);
    for (uint32_t i = 0; i < ep->known; i++)
        if (is_used(ep, &ep->peer[i]))
            walk_peer(ep, &ep->peer[i], walk);
}

static void walk_driver(struct driver *d, struct state_walk *walk)
{
    STATE_FIELD(walk, d->begun, STATE_COUNT);
    walk_time(walk, &d->wake, WORKLOAD_NEVER);
    STATE_FIELD(walk, d->timer_noted, STATE_STILL);
    STATE_FIELD(walk, d->again_noted, STATE_EQUAL);
    if (d->again_noted)
        STATE_FIELD(walk, d->again_at, STATE_TIME);
    STATE_FIELD(walk, d->done, STATE_EQUAL);
    STATE_FIELD(walk, d->hal.sim_node->hungry, STATE_EQUAL);
    STATE_FIELD(walk, d->receiver->bytes, STATE_COUNT);
    STATE_FIELD(walk, d->receiver->last, STATE_NOTE);
    walk_endpoint(&d->endpoint, d->hal.planes, d->hal.train, walk);
    struct executor *e = workload_executor(d->workload);
    if (e)
        executor_walk(e, walk);
}

/* ---- a worker ---- */

bool repeats_state_rests(struct worker *w, uint64_t by)
{
    if (virtual_pool_used(&w->v.pool))
        return false;
    for (uint32_t i = 0; i < w->accelerators; i++)
        if (!driver_rests(&w->driver[i], by))
            return false;
    for (uint32_t i = 0; i < w->sim_nodes; i++) {
        const struct virtual_sim_node *e = w->sim_node[i];
        bool rests = !has_others(&e->event_queue);
        for (unsigned plane = 0; plane < e->planes && rests; plane++)
            rests = switch_rests(&e->node[plane], by);
        if (!rests)
            return false;
    }
    return true;
}

static void walk_job(struct job_count *job, struct state_walk *walk)
{
    for (unsigned bin = 0; bin < FAB_HISTOGRAM_BINS; bin++)
        STATE_FIELD(walk, job->latency.count[bin], STATE_COUNT);
    STATE_FIELD(walk, job->latency.sum, STATE_COUNT);
    STATE_FIELD(walk, job->bytes_corrupted, STATE_STILL);
    STATE_FIELD(walk, job->last_ps, STATE_NOTE);
    STATE_FIELD(walk, job->bytes_measured, STATE_COUNT);
}

static void walk_counts(struct worker *w, struct state_walk *walk)
{
    struct model_area *area = w->area;
    STATE_FIELD(walk, w->active, STATE_EQUAL);
    STATE_FIELD(walk, w->v.hops, STATE_COUNT);
    STATE_FIELD(walk, w->v.moved, STATE_NOTE);
    for (unsigned reason = 0; reason < HX_DROP_COUNT; reason++)
        STATE_FIELD(walk, area->drops[reason], STATE_STILL);
    for (unsigned cause = 0; cause < HX_STALL_COUNT; cause++)
        STATE_FIELD(walk, area->stalls[cause], STATE_COUNT);
    STATE_FIELD(walk, w->progress->acknowledged, STATE_COUNT);
    STATE_FIELD(walk, area->bytes_corrupted, STATE_STILL);
    STATE_FIELD(walk, area->bytes_measured, STATE_COUNT);
    STATE_FIELD(walk, area->last_delivery, STATE_NOTE);
    STATE_FIELD(walk, area->collective_ended, STATE_STILL);
    bool *seen = hx_allocate(w->m->jobs.slots + 1U, sizeof *seen);
    for (uint32_t i = 0; i < w->accelerators; i++) {
        ptrdiff_t slot = w->driver[i].job - w->m->job;
        if (!seen[slot])
            walk_job(w->driver[i].job, walk);
        seen[slot] = true;
    }
    free(seen);
}

void repeats_state_walk(struct worker *w, uint64_t since, struct state_walk *walk)
{
    walk_counts(w, walk);
    for (uint32_t i = 0; i < w->sim_nodes; i++) {
        struct virtual_sim_node *e = w->sim_node[i];
        for (unsigned plane = 0; plane < e->planes; plane++)
            walk_switch(w, e, plane, since, walk);
        walk_events(&e->event_queue, walk);
    }
    for (uint32_t i = 0; i < w->accelerators; i++)
        walk_driver(&w->driver[i], walk);
}

/* ---- how far it may go on ---- */

/* Whether a round trip's estimate stays below the least timeout, if none takes longer than `busy`. */
static bool stays_small(const struct hx_endpoint *ep, const struct hx_round_trip *r, uint64_t busy)
{
    uint64_t most = (busy / PS_PER_NS >> ep->unit_shift) + 2; /* units: a round trip begins and ends in a unit */
    uint64_t smoothed = r->smoothed > most ? r->smoothed : most;
    uint64_t variation = r->variation > most + 3 ? r->variation : most + 3; /* + 3: a quarter is rounded down */
    uint64_t timeout = smoothed + (4 * variation > smoothed ? 4 * variation : smoothed);
    return timeout << ep->unit_shift < ep->config.least_ns;
}

static bool round_trips_stay_small(const struct hx_endpoint *ep, uint64_t busy)
{
    bool small = stays_small(ep, &ep->round_trip, busy);
    for (uint32_t i = 0; i < ep->known && small; i++)
        small = stays_small(ep, &ep->peer[i].round_trip, busy);
    return small;
}

uint64_t repeats_state_periods(const struct worker *w, uint64_t now, uint64_t period, uint64_t busy)
{
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < w->accelerators; i++) {
        const struct driver *d = &w->driver[i];
        uint64_t timer = time_of(&d->hal.sim_node->event_queue, VIRTUAL_ITEM_TIMER);
        uint64_t periods = timer > now ? (timer - 1 - now) / period : 0;
        periods = round_trips_stay_small(&d->endpoint, busy) ? periods : 0;
        least = periods < least ? periods : least;
    }
    return least;
}
