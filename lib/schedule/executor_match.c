/* executor_match.c - receives, and the messages for them: matching as in MPI (executor.h). */
#include "schedule/executor_parts.h"

#include <stdlib.h>

void match_open(struct executor *e)
{
    bool any = false;
    for (uint32_t i = 0; i < e->count && !any; i++) {
        const struct schedule_operation *o = operation_at(e, i);
        any = o->kind == SCHEDULE_RECEIVE && (o->peer == SCHEDULE_ANY || o->tag == SCHEDULE_ANY);
    }
    if (any)
        e->post_order = hx_allocate(e->count, sizeof *e->post_order);
    e->wild = (struct list){NONE, NONE};
    e->early_free = e->early_first = e->early_last = NONE;
}

void match_close(struct executor *e)
{
    hx_table_free(&e->buckets);
    HX_FREE(e->post_order, e->early, e->awaited);
}

/* ---- buckets ---- */

static struct bucket *bucket_of(struct executor *e, uint32_t source, uint32_t tag)
{
    const uint64_t key = (uint64_t)source << 32 | tag;
    struct bucket *b = hx_table_find(&e->buckets, &key);
    if (!b) {
        b = hx_table_add(&e->buckets, &key);
        b->posted = b->early = (struct list){NONE, NONE};
    }
    return b;
}

/* ---- messages before their receive ---- */

static void add_early(struct executor *e, uint32_t source, uint32_t tag, uint32_t operation, bool request)
{
    struct bucket *b = bucket_of(e, source, tag);
    uint32_t at = e->early_free;
    if (at != NONE) {
        e->early_free = e->early[at].next;
    } else {
        e->early = hx_grow(e->early, e->early_used, &e->early_room, sizeof *e->early);
        at = (uint32_t)e->early_used++;
    }
    e->early[at] = (struct early){source, tag, operation, request, NONE, e->early_last, NONE};
    if (e->early_last != NONE)
        e->early[e->early_last].later = at;
    else
        e->early_first = at;
    e->early_last = at;
    if (b->early.last != NONE)
        e->early[b->early.last].next = at;
    else
        b->early.first = at;
    b->early.last = at;
    e->result->early++;
}

/* Takes the first message of a bucket out of both lists. */
static struct early take_early(struct executor *e, struct bucket *b)
{
    uint32_t at = b->early.first;
    const struct early found = e->early[at];
    b->early.first = found.next;
    if (found.next == NONE)
        b->early.last = NONE;
    if (found.earlier != NONE)
        e->early[found.earlier].later = found.later;
    else
        e->early_first = found.later;
    if (found.later != NONE)
        e->early[found.later].earlier = found.earlier;
    else
        e->early_last = found.earlier;
    e->early[at].next = e->early_free;
    e->early_free = at;
    return found;
}

static bool fits(const struct schedule_operation *o, uint32_t source, uint32_t tag)
{
    return (o->peer == SCHEDULE_ANY || o->peer == source) && (o->tag == SCHEDULE_ANY || o->tag == tag);
}

static bool is_wild(const struct schedule_operation *o)
{
    return o->peer == SCHEDULE_ANY || o->tag == SCHEDULE_ANY;
}

/* Bucket of the first early message that fits a receive; NULL: none. */
static struct bucket *find_early(struct executor *e, const struct schedule_operation *o)
{
    if (!is_wild(o)) {
        struct bucket *b = bucket_of(e, o->peer, o->tag);
        return b->early.first == NONE ? NULL : b;
    }
    for (uint32_t at = e->early_first; at != NONE; at = e->early[at].later) {
        if (fits(o, e->early[at].source, e->early[at].tag))
            return bucket_of(e, e->early[at].source, e->early[at].tag);
    }
    return NULL;
}

/* ---- receives ---- */

static void append(struct executor *e, struct list *l, uint32_t number)
{
    e->next[number] = NONE;
    if (l->last != NONE)
        e->next[l->last] = number;
    else
        l->first = number;
    l->last = number;
}

/* A receive takes a message, or a request, which it answers. */
static void match(struct executor *e, uint32_t number, uint32_t source, uint32_t operation, bool request)
{
    if (!request) {
        executor_received(e, number);
        return;
    }
    e->awaited = hx_grow(e->awaited, e->awaited_count, &e->awaited_room, sizeof *e->awaited);
    e->awaited[e->awaited_count++] = (struct awaited){source, operation, number};
    messages_send(e, source, MESSAGE_ANSWER, operation, 0);
}

void match_post(struct executor *e, uint32_t number)
{
    const struct schedule_operation *o = operation_at(e, number);
    struct bucket *b = find_early(e, o);
    if (b) {
        const struct early found = take_early(e, b);
        match(e, number, found.source, found.operation, found.request);
        return;
    }
    if (e->post_order)
        e->post_order[number] = e->posts++;
    append(e, is_wild(o) ? &e->wild : &bucket_of(e, o->peer, o->tag)->posted, number);
}

/* First posted receive with a wildcard that fits this message; NONE: none. *before: its predecessor in the list. */
static uint32_t find_wild(const struct executor *e, uint32_t source, uint32_t tag, uint32_t *before)
{
    *before = NONE;
    for (uint32_t at = e->wild.first; at != NONE; at = e->next[at]) {
        if (fits(operation_at(e, at), source, tag))
            return at;
        *before = at;
    }
    return NONE;
}

static void remove_after(struct executor *e, struct list *l, uint32_t before, uint32_t number)
{
    if (before != NONE)
        e->next[before] = e->next[number];
    else
        l->first = e->next[number];
    if (l->last == number)
        l->last = before;
}

void match_message(struct executor *e, uint32_t source, uint32_t operation, bool request)
{
    uint32_t tag = schedule_at(e->s, source, operation)->tag;
    struct bucket *b = bucket_of(e, source, tag);
    uint32_t before;
    uint32_t wild = find_wild(e, source, tag, &before);
    uint32_t exact = b->posted.first;
    bool takes_wild = wild != NONE && (exact == NONE || e->post_order[wild] < e->post_order[exact]);
    uint32_t receive = takes_wild ? wild : exact;
    if (receive == NONE) {
        add_early(e, source, tag, operation, request);
        return;
    }
    remove_after(e, takes_wild ? &e->wild : &b->posted, takes_wild ? before : NONE, receive);
    if (source != e->rank)
        executor_set_cause(e, receive, source, operation);
    match(e, receive, source, operation, request);
}

bool match_data(struct executor *e, uint32_t source, uint32_t operation)
{
    for (size_t i = 0; i < e->awaited_count; i++) {
        const struct awaited found = e->awaited[i];
        if (found.source != source || found.operation != operation)
            continue;
        e->awaited[i] = e->awaited[--e->awaited_count];
        executor_received(e, found.receive);
        return true;
    }
    return false;
}
