/* estimate.c - the ideal network (estimate.h). */
#include "schedule/estimate.h"
#include "base/split_mix.h"

#include <math.h>
#include <stdlib.h>

enum event_kind { ARRIVAL, ACKNOWLEDGEMENT, WAKE };

struct event {
    uint64_t time, order;
    uint32_t rank, peer, number, tag;
    uint8_t kind;
};

/* Messages of a pair. */
struct pair {
    uint64_t key;  /* from << 32 | to, plus 1; 0: unused */
    uint64_t last; /* ps: latest arrival */
    uint32_t messages;
};

struct world {
    const struct executor_plan *plan;
    const struct estimate_network *network;
    struct executor **executor;
    uint64_t *wake; /* [ranks]: time of the latest noted wake */
    struct event *heap;
    size_t events, events_room;
    uint64_t order;
    struct pair *pair;
    size_t pairs, pairs_used;
};

/* ---- events ---- */

static bool is_before(const struct event *a, const struct event *b)
{
    return a->time != b->time ? a->time < b->time : a->order < b->order;
}

static void push(struct world *w, struct event event)
{
    w->heap = hx_grow(w->heap, w->events, &w->events_room, sizeof *w->heap);
    event.order = w->order++;
    size_t at = w->events++;
    for (; at && is_before(&event, &w->heap[(at - 1) / 2]); at = (at - 1) / 2)
        w->heap[at] = w->heap[(at - 1) / 2];
    w->heap[at] = event;
}

static struct event pop(struct world *w)
{
    const struct event first = w->heap[0];
    const struct event last = w->heap[--w->events];
    size_t at = 0;
    for (size_t child = 1; child < w->events; child = 2 * at + 1) {
        if (child + 1 < w->events && is_before(&w->heap[child + 1], &w->heap[child]))
            child++;
        if (!is_before(&w->heap[child], &last))
            break;
        w->heap[at] = w->heap[child];
        at = child;
    }
    w->heap[at] = last;
    return first;
}

/* ---- pairs ---- */

static struct pair *slot(struct pair *pair, size_t pairs, uint64_t key)
{
    size_t at = split_mix(key) & (pairs - 1);
    while (pair[at].key && pair[at].key != key)
        at = (at + 1) & (pairs - 1);
    return &pair[at];
}

static struct pair *pair_of(struct world *w, uint32_t from, uint32_t to)
{
    uint64_t key = ((uint64_t)from << 32 | to) + 1;
    if (2 * w->pairs_used >= w->pairs) {
        size_t pairs = w->pairs ? 2 * w->pairs : 64;
        struct pair *pair = hx_allocate(pairs, sizeof *pair);
        for (size_t i = 0; i < w->pairs; i++) {
            if (w->pair[i].key)
                *slot(pair, pairs, w->pair[i].key) = w->pair[i];
        }
        free(w->pair);
        w->pair = pair;
        w->pairs = pairs;
    }
    struct pair *p = slot(w->pair, w->pairs, key);
    w->pairs_used += p->key == 0;
    p->key = key;
    return p;
}

/* ---- the run ---- */

static void send(struct world *w, uint32_t from, uint64_t now, const struct executor_message *m)
{
    struct pair *p = pair_of(w, from, m->to);
    uint64_t arrival = now + w->network->latency_ps + (uint64_t)llround((double)m->bytes * w->network->byte_ps);
    p->last = arrival > p->last ? arrival : p->last;
    push(w, (struct event){
                .time = p->last, .kind = ARRIVAL, .rank = m->to, .peer = from, .number = p->messages++, .tag = m->tag});
    push(w, (struct event){.time = p->last + w->network->latency_ps,
                           .kind = ACKNOWLEDGEMENT,
                           .rank = from,
                           .peer = m->to,
                           .tag = m->tag});
}

static void look(struct world *w, uint32_t rank, uint64_t now)
{
    struct executor *e = w->executor[rank];
    struct executor_message m;
    while (executor_next(e, now, &m)) {
        executor_take(e);
        send(w, rank, now, &m);
    }
    uint64_t wake = executor_wake(e);
    if (wake != EXECUTOR_NEVER && wake != w->wake[rank]) {
        w->wake[rank] = wake;
        push(w, (struct event){.time = wake, .kind = WAKE, .rank = rank});
    }
}

static bool handle(struct world *w, const struct event *event)
{
    struct executor *e = w->executor[event->rank];
    bool good = true;
    if (event->kind == ARRIVAL)
        good = executor_arrived(e, event->time, event->peer, event->number, event->tag);
    else if (event->kind == ACKNOWLEDGEMENT)
        good = executor_sent(e, event->time, event->peer, event->tag);
    look(w, event->rank, event->time);
    return good;
}

bool schedule_estimate(const struct executor_plan *plan, const struct estimate_network *network)
{
    uint32_t ranks = schedule_ranks(plan->schedule);
    struct world w = {.plan = plan, .network = network};
    bool good = true;
    w.executor = hx_allocate(ranks, sizeof *w.executor);
    w.wake = hx_allocate(ranks, sizeof *w.wake);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        w.executor[rank] = executor_new(plan, rank);
        executor_start(w.executor[rank], 0);
        look(&w, rank, 0);
    }
    while (w.events && good) {
        const struct event event = pop(&w);
        good = handle(&w, &event);
    }
    for (uint32_t rank = 0; rank < ranks; rank++) {
        executor_note(w.executor[rank]);
        executor_free(w.executor[rank]);
    }
    HX_FREE(w.executor, w.wake, w.heap, w.pair);
    return good;
}
