/* estimate.c - executes a schedule on the ideal network or over a carrier (estimate.h). */
#include "schedule/estimate.h"
#include "base/table.h"
#include "base/time_heap.h"

#include <math.h>
#include <stdlib.h>

enum event_kind { HEAD, ARRIVAL, ACKNOWLEDGEMENT, WAKE };

/* At one time first bits of messages come first, those of the lowest rank before others. */
#define LAST UINT64_MAX

struct event {
    struct time_key key; /* turn: of a head the rank of the sender; LAST: of others */
    uint64_t ps;         /* HEAD: that the bytes take at the receiver */
    uint32_t rank, peer, tag;
    uint8_t kind;
};

/* Messages of a pair. */
struct pair {
    uint64_t key;   /* from << 32 | to */
    uint64_t last;  /* ps: latest arrival of those in order */
    uint64_t begun; /* ps: first bit of the latest of those in order, on the ideal network */
    uint32_t sent, arrived;
    uint16_t in_flight; /* over a carrier: bit by the number of a message, modulo the window */
};

struct place {
    struct executor *executor;
    uint64_t wake;      /* ps: latest noted wake */
    uint64_t out, in;   /* ps: when its links are free, on the ideal network */
    uint32_t in_flight; /* messages */
    bool touched;       /* is in the list */
};

/* A message that a carrier has, until it is acknowledged. */
struct letter {
    uint32_t from, to, tag, number; /* number: in the pair */
    uint32_t next;                  /* in the list of free ones */
};

struct world {
    const struct estimate_network *network;
    struct place *place; /* [ranks] */
    uint32_t *list;      /* ranks that something happened to at this time */
    uint32_t listed;
    struct time_heap events;
    struct hx_table pairs; /* struct pair */
    struct letter *letter;
    size_t letters, letters_room;
    uint32_t free_letter; /* NO_LETTER: none */
};
enum { NO_LETTER = UINT32_MAX };

/* ---- pairs ---- */

static struct pair *pair_of(struct world *w, uint32_t from, uint32_t to)
{
    const uint64_t key = (uint64_t)from << 32 | to;
    return hx_table_find_or_add(&w->pairs, &key);
}

/* ---- the run ---- */

static void push(struct world *w, struct event event)
{
    event.key.turn = event.kind == HEAD ? event.peer : LAST;
    time_heap_push(&w->events, &event.key);
}

static uint64_t bytes_ps(double byte_ps, uint64_t bytes)
{
    return (uint64_t)llround((double)bytes * byte_ps);
}

static uint64_t message_ps(const struct estimate_network *n, uint32_t from, const struct executor_message *m)
{
    if (n->message_ps)
        return n->message_ps(n->of, from, m->to, m->bytes);
    return n->latency_ps + bytes_ps(n->byte_ps, m->bytes);
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* A message's first bit leaves when the earlier ones of its rank have left. One without bytes goes at once, but not
 * before those to the same rank that receives must find first. */
static void send_on_ideal(struct world *w, uint32_t from, uint64_t now, const struct executor_message *m)
{
    struct place *p = &w->place[from];
    const uint64_t host_ps = bytes_ps(w->network->host_byte_ps, m->bytes);
    const uint64_t alone = later(message_ps(w->network, from, m), host_ps);
    uint64_t start = host_ps ? later(now, p->out) : now;
    if (executor_matches(m->tag)) {
        struct pair *pair = pair_of(w, from, m->to);
        start = pair->begun = later(start, pair->begun);
    }
    p->out = host_ps ? start + host_ps : p->out;
    const struct event head = {
        .key.time = start + alone - host_ps, .kind = HEAD, .ps = host_ps, .rank = m->to, .peer = from, .tag = m->tag};
    push(w, head);
}

/* The first bit of a message comes to its receiver. */
static void take_head(struct world *w, const struct event *head)
{
    struct place *to = &w->place[head->rank];
    struct pair *p = pair_of(w, head->peer, head->rank);
    uint64_t arrival = head->key.time;
    if (head->ps)
        to->in = arrival = later(head->key.time, to->in) + head->ps;
    if (executor_matches(head->tag))
        p->last = arrival = later(arrival, p->last);
    push(w, (struct event){
                .key.time = arrival, .kind = ARRIVAL, .rank = head->rank, .peer = head->peer, .tag = head->tag});
    push(w, (struct event){.key.time = arrival + w->network->latency_ps,
                           .kind = ACKNOWLEDGEMENT,
                           .rank = head->peer,
                           .peer = head->rank,
                           .tag = head->tag});
}

/* ---- over a carrier ---- */

static uint32_t new_letter(struct world *w)
{
    const uint32_t letter = w->free_letter;
    if (letter != NO_LETTER) {
        w->free_letter = w->letter[letter].next;
        return letter;
    }
    w->letter = hx_grow(w->letter, w->letters, &w->letters_room, sizeof *w->letter);
    return (uint32_t)w->letters++;
}

static uint16_t slot_of(const struct world *w, uint32_t number)
{
    return (uint16_t)(1U << number % w->network->carrier->window);
}

/* Whether the endpoint of a rank takes a message, as firmware/endpoint.c does. */
static bool takes(struct world *w, uint32_t from, const struct executor_message *m)
{
    const struct estimate_carrier *c = w->network->carrier;
    const struct pair *p = pair_of(w, from, m->to);
    return w->place[from].in_flight < c->most(c->of, from) && !(p->in_flight & slot_of(w, p->sent));
}

static void send_by_carrier(struct world *w, uint32_t from, uint64_t now, const struct executor_message *m)
{
    const struct estimate_carrier *c = w->network->carrier;
    struct pair *p = pair_of(w, from, m->to);
    const uint32_t letter = new_letter(w);
    p->in_flight |= slot_of(w, p->sent);
    w->place[from].in_flight++;
    w->letter[letter] = (struct letter){.from = from, .to = m->to, .tag = m->tag, .number = p->sent++};
    c->send(c->of, now, &(struct estimate_message){.from = from, .to = m->to, .bytes = m->bytes, .number = letter});
}

/* Sends what may go. */
static void send_all(struct world *w, uint32_t rank, uint64_t now)
{
    struct executor_message m;
    while (executor_next(w->place[rank].executor, now, &m)) {
        if (w->network->carrier && !takes(w, rank, &m))
            return;
        executor_take(w->place[rank].executor);
        if (w->network->carrier)
            send_by_carrier(w, rank, now, &m);
        else
            send_on_ideal(w, rank, now, &m);
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
    if (event->kind == HEAD) {
        take_head(w, event);
        return true;
    }
    if (event->kind == ARRIVAL)
        good = executor_arrived(e, event->key.time, event->peer, pair_of(w, event->peer, event->rank)->arrived++,
                                event->tag);
    else if (event->kind == ACKNOWLEDGEMENT)
        good = executor_sent(e, event->key.time, event->peer, event->tag);
    send_all(w, event->rank, event->key.time);
    touch(w, event->rank);
    return good;
}

static bool take_news(struct world *w, uint64_t now, enum estimate_news news, uint32_t number)
{
    if (number >= w->letters)
        return false;
    const struct letter l = w->letter[number];
    const uint32_t rank = news == ESTIMATE_ARRIVED ? l.to : l.from;
    bool good;
    if (news == ESTIMATE_ARRIVED) {
        good = executor_arrived(w->place[rank].executor, now, l.from, l.number, l.tag);
    } else {
        w->place[rank].in_flight--;
        pair_of(w, l.from, l.to)->in_flight &= (uint16_t)~slot_of(w, l.number);
        w->letter[number].next = w->free_letter;
        w->free_letter = number;
        good = executor_sent(w->place[rank].executor, now, l.to, l.tag);
    }
    send_all(w, rank, now);
    touch(w, rank);
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
        if (wake > now && wake != EXECUTOR_NEVER && wake != w->place[rank].wake) {
            w->place[rank].wake = wake;
            push(w, (struct event){.key.time = wake, .kind = WAKE, .rank = rank});
        }
    }
    w->listed = 0;
}

static uint64_t next_time(const struct world *w)
{
    const struct estimate_carrier *c = w->network->carrier;
    const uint64_t own = time_heap_next(&w->events);
    const uint64_t carried = c ? c->next(c->of) : UINT64_MAX;
    return own < carried ? own : carried;
}

/* Carries out all that happens at a time. */
static bool carry_out(struct world *w, uint64_t now)
{
    const struct estimate_carrier *c = w->network->carrier;
    uint32_t letter;
    bool good = true;
    while (next_time(w) == now && good) {
        struct event event = {.tag = 0};
        if (time_heap_next(&w->events) == now) {
            (void)time_heap_pop(&w->events, &event.key);
            good = handle(w, &event);
        } else {
            const enum estimate_news news = c->step(c->of, &letter);
            good = news == ESTIMATE_NOTHING || take_news(w, now, news, letter);
        }
    }
    return good;
}

static bool run(struct world *w)
{
    bool good = true;
    settle_all(w, 0);
    for (uint64_t now = next_time(w); now != UINT64_MAX && good; now = next_time(w)) {
        good = carry_out(w, now);
        settle_all(w, now);
    }
    return good;
}

bool schedule_estimate(const struct executor_plan *plan, const struct estimate_network *network)
{
    uint32_t ranks = schedule_ranks(plan->schedule);
    struct world w = {.network = network, .events.bytes = sizeof(struct event), .free_letter = NO_LETTER};
    w.pairs = hx_table_make(sizeof(uint64_t), sizeof(struct pair));
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
    time_heap_free(&w.events);
    hx_table_free(&w.pairs);
    HX_FREE(w.place, w.list, w.letter);
    return good;
}
