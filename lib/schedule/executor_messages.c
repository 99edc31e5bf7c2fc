/* executor_messages.c - messages to and from each peer, in order (executor.h). */
#include "schedule/executor_parts.h"

#include <stdlib.h>

void messages_close(struct executor *e)
{
    hx_table_free(&e->peer_of);
    HX_FREE(e->peer, e->outgoing);
}

/* ---- peers ---- */

uint32_t messages_peer(struct executor *e, uint32_t rank)
{
    const uint64_t key = rank;
    struct found_peer *f = hx_table_find(&e->peer_of, &key);
    if (f)
        return f->index;
    const uint32_t index = (uint32_t)e->peer_of.count;
    f = hx_table_add(&e->peer_of, &key);
    f->index = index;
    e->peer = hx_grow(e->peer, index, &e->peer_room, sizeof *e->peer);
    e->peer[index] =
        (struct peer){.rank = rank, .out = {NONE, NONE}, .next = NONE, .blocked = {NONE, NONE}, .held = {NONE, NONE}};
    return index;
}

/* ---- sending ---- */

/* The messages that wait with one for this peer: its own, or those for all peers. */
static struct list *queue_of(struct executor *e, struct peer *p)
{
    return e->plan->in_order ? &e->line : &p->out;
}

/* Whether the next message of the queue is for this peer. */
static bool is_next(struct executor *e, struct peer *p)
{
    uint32_t first = queue_of(e, p)->first;
    return first != NONE && e->outgoing[first].to == p->rank;
}

static void list_sender(struct executor *e, uint32_t at)
{
    struct peer *p = &e->peer[at];
    if (p->queued || !is_next(e, p) || p->in_flight == e->plan->window)
        return;
    p->queued = true;
    p->next = NONE;
    if (e->sending.last != NONE)
        e->peer[e->sending.last].next = at;
    else
        e->sending.first = at;
    e->sending.last = at;
}

static void enqueue(struct executor *e, uint32_t to, uint32_t tag, uint64_t bytes)
{
    uint32_t at = messages_peer(e, to);
    struct list *queue = queue_of(e, &e->peer[at]);
    uint32_t message = e->outgoing_free;
    if (message != NONE) {
        e->outgoing_free = e->outgoing[message].next;
    } else {
        e->outgoing = hx_grow(e->outgoing, e->outgoing_used, &e->outgoing_room, sizeof *e->outgoing);
        message = (uint32_t)e->outgoing_used++;
    }
    e->outgoing[message] = (struct outgoing){to, tag, NONE, bytes};
    if (queue->last != NONE)
        e->outgoing[queue->last].next = message;
    else
        queue->first = message;
    queue->last = message;
    list_sender(e, at);
}

void messages_send(struct executor *e, uint32_t to, enum message_kind kind, uint32_t operation, uint64_t bytes)
{
    if (kind == MESSAGE_EAGER || kind == MESSAGE_DATA)
        time_count_messages(e, operation, 1, bytes);
    if (to == e->rank)
        match_message(e, to, operation, false);
    else
        enqueue(e, to, (uint32_t)kind << TAG_KIND_SHIFT | operation, bytes);
    if (bytes)
        skip_message(e, to, true);
}

bool messages_next(struct executor *e, struct executor_message *m)
{
    if (e->sending.first == NONE)
        return false;
    struct peer *p = &e->peer[e->sending.first];
    const struct outgoing *o = &e->outgoing[queue_of(e, p)->first];
    *m = (struct executor_message){.to = p->rank, .tag = o->tag, .bytes = o->bytes};
    e->offered.collective = false;
    e->offered.peer = e->sending.first;
    return true;
}

void messages_take(struct executor *e)
{
    struct peer *p = &e->peer[e->offered.peer];
    struct list *queue = queue_of(e, p);
    uint32_t message = queue->first;
    queue->first = e->outgoing[message].next;
    if (queue->first == NONE)
        queue->last = NONE;
    e->outgoing[message].next = e->outgoing_free;
    e->outgoing_free = message;
    e->sending.first = p->next;
    if (p->next == NONE)
        e->sending.last = NONE;
    p->queued = false;
    p->in_flight++;
    list_sender(e, queue->first == NONE ? e->offered.peer : messages_peer(e, e->outgoing[queue->first].to));
}

static void acknowledged(struct executor *e, uint32_t peer)
{
    e->peer[peer].in_flight--;
    instances_open(e, peer);
    list_sender(e, peer);
}

/* ---- arrivals ---- */

static uint32_t operation_of(uint32_t tag)
{
    return tag & (SCHEDULE_MOST_OPERATIONS - 1U);
}

static enum message_kind kind_of(uint32_t tag)
{
    return (enum message_kind)(tag >> TAG_KIND_SHIFT & 3U);
}

/* Whether another rank may have sent such a message. */
static bool is_possible(const struct executor *e, uint32_t from, uint32_t tag)
{
    uint32_t operation = operation_of(tag);
    uint32_t sender = kind_of(tag) == MESSAGE_ANSWER ? e->rank : from;
    if (from >= schedule_ranks(e->s) || operation >= schedule_count(e->s, sender))
        return false;
    const struct schedule_operation *o = schedule_at(e->s, sender, operation);
    uint32_t to = kind_of(tag) == MESSAGE_ANSWER ? from : e->rank;
    return o->kind == SCHEDULE_SEND && o->peer == to;
}

static bool is_collective(uint32_t tag)
{
    return tag >> TAG_COLLECTIVE_BIT;
}

bool executor_matches(uint32_t tag)
{
    return !is_collective(tag) && (kind_of(tag) == MESSAGE_EAGER || kind_of(tag) == MESSAGE_REQUEST);
}

/* Takes a message that needs no order; checks any other. Returns false if no executor sent it. */
static bool take_at_once(struct executor *e, uint32_t from, uint32_t tag)
{
    uint32_t operation = operation_of(tag);
    if (is_collective(tag))
        return collective_arrived(e, from, tag);
    if (!is_possible(e, from, tag))
        return false;
    if (kind_of(tag) == MESSAGE_DATA)
        return match_data(e, from, operation);
    if (kind_of(tag) == MESSAGE_ANSWER)
        messages_send(e, from, MESSAGE_DATA, operation, operation_at(e, operation)->amount);
    return true;
}

/* Takes the next message in order, and matches it if its kind is matched. */
static void take_arrival(struct executor *e, uint32_t peer, uint32_t from, uint32_t tag)
{
    e->peer[peer].in_order++;
    if (executor_matches(tag))
        match_message(e, from, operation_of(tag), kind_of(tag) == MESSAGE_REQUEST);
}

/* Takes the held message that is next in order off the list. Returns false if there is none. */
static bool find_held(struct executor *e, struct peer *p, struct note *found)
{
    for (unsigned left = p->holds; left; left--) {
        *found = note_take(e, &p->held);
        if (found->number == p->in_order) {
            p->holds--;
            return true;
        }
        note_add(e, &p->held, *found);
    }
    return false;
}

bool messages_arrived(struct executor *e, uint32_t from, uint32_t number, uint32_t tag)
{
    if (from >= schedule_ranks(e->s) || !take_at_once(e, from, tag))
        return false;
    uint32_t at = messages_peer(e, from);
    struct peer *p = &e->peer[at];
    if (number == p->in_order) {
        struct note held;
        take_arrival(e, at, from, tag);
        while (find_held(e, &e->peer[at], &held))
            take_arrival(e, at, from, held.tag);
        return true;
    }
    if (p->holds == EXECUTOR_WINDOW || number - p->in_order > EXECUTOR_WINDOW)
        return false;
    note_add(e, &p->held, (struct note){.number = number, .tag = tag});
    p->holds++;
    return true;
}

bool messages_sent(struct executor *e, uint32_t to, uint32_t tag)
{
    uint32_t at = messages_peer(e, to);
    if (e->peer[at].in_flight == 0)
        return false;
    acknowledged(e, at);
    if (is_collective(tag))
        return collective_sent(e, to, tag);
    if ((kind_of(tag) == MESSAGE_EAGER || kind_of(tag) == MESSAGE_DATA) && operation_at(e, operation_of(tag))->amount)
        skip_message(e, to, false);
    if (kind_of(tag) == MESSAGE_DATA)
        executor_end(e, operation_of(tag));
    return true;
}
