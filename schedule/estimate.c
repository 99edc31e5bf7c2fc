/* estimate.c - the ideal network (estimate.h). */
#include "schedule/estimate.h"
#include "base/split_mix.h"

#include <math.h>
#include <stdlib.h>

enum event_kind { ARRIVAL, ACKNOWLEDGEMENT, WAKE };

struct event {
    uint64_t time, order;
    uint32_t rank, peer, tag;
    uint8_t kind;
};

/* Messages of a pair. */
struct pair {
    uint64_t key;  /* from << 32 | to, plus 1; 0: unused */
    uint64_t last; /* ps: latest arrival of those in order */
    uint32_t arrived;
};

struct place {
    struct executor *executor;
    uint64_t wake; /* ps: latest noted wake */
    bool touched;  /* is in the list */
};

struct world {
    const struct estimate_network *network;
    struct place *place; /* [ranks] */
    uint32_t *list;      /* ranks that something happened to at this time */
    uint32_t listed;
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

static uint64_t message_ps(const struct estimate_network *n, uint32_t from, const struct executor_message *m)
{
    if (n->message_ps)
        return n->message_ps(n->of, from, m->to, m->bytes);
    return n->latency_ps + (uint64_t)llround((double)m->bytes * n->byte_ps);
}

static void send(struct world *w, uint32_t from, uint64_t now, const struct executor_message *m)
{
    struct pair *p = pair_of(w, from, m->to);
    uint64_t arrival = now + message_ps(w->network, from, m);
    if (executor_matches(m->tag))
        p->last = arrival = arrival > p->last ? arrival : p->last;
    push(w, (struct event){.time = arrival, .kind = ARRIVAL, .rank = m->to, .peer = from, .tag = m->tag});
    push(w, (struct event){.time = arrival + w->network->latency_ps,
                           .kind = ACKNOWLEDGEMENT,
                           .rank = from,
                           .peer = m->to,
                           .tag = m->tag});
}

/* Sends what may go. */
static void send_all(struct world *w, uint32_t rank, uint64_t now)
{
    struct executor_message m;
    while (executor_next(w->place[rank].executor, now, &m)) {
        executor_take(w->place[rank].executor);
        send(w, rank, now, &m);
    }
}

static void touch(struct world *w, uint32_t rank)
{
    if (!w->place[rank].touched)
        w->list[w->listed++] = rank;
    w->place[rank].touched = true;
}

static bool handle(struct world *w, const struct event *event)
{
    struct executor *e = w->place[event->rank].executor;
    bool good = true;
    if (event->kind == ARRIVAL)
        good =
            executor_arrived(e, event->time, event->peer, pair_of(w, event->peer, event->rank)->arrived++, event->tag);
    else if (event->kind == ACKNOWLEDGEMENT)
        good = executor_sent(e, event->time, event->peer, event->tag);
    send_all(w, event->rank, event->time);
    touch(w, event->rank);
    return good;
}

/* Nothing more happens at this time: streams take operations, which may make something happen. */
static void settle_all(struct world *w, uint64_t now)
{
    for (uint32_t i = 0; i < w->listed; i++) {
        uint32_t rank = w->list[i];
        w->place[rank].touched = false;
        executor_settle(w->place[rank].executor, now);
        send_all(w, rank, now);
        uint64_t wake = executor_wake(w->place[rank].executor);
        if (wake != EXECUTOR_NEVER && wake != w->place[rank].wake) {
            w->place[rank].wake = wake;
            push(w, (struct event){.time = wake, .kind = WAKE, .rank = rank});
        }
    }
    w->listed = 0;
}

static bool run(struct world *w)
{
    bool good = true;
    uint64_t now = 0;
    settle_all(w, now);
    while (w->events && good) {
        now = w->heap[0].time;
        while (w->events && w->heap[0].time == now && good) {
            const struct event event = pop(w);
            good = handle(w, &event);
        }
        settle_all(w, now);
    }
    return good;
}

bool schedule_estimate(const struct executor_plan *plan, const struct estimate_network *network)
{
    uint32_t ranks = schedule_ranks(plan->schedule);
    struct world w = {.network = network};
    w.place = hx_allocate(ranks, sizeof *w.place);
    w.list = hx_allocate(ranks, sizeof *w.list);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        w.place[rank].executor = executor_new(plan, rank);
        executor_start(w.place[rank].executor, 0);
        send_all(&w, rank, 0);
        touch(&w, rank);
    }
    bool good = run(&w);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        executor_write_blocked(w.place[rank].executor);
        executor_free(w.place[rank].executor);
    }
    HX_FREE(w.place, w.list, w.heap, w.pair);
    return good;
}
