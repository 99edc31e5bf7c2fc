/* executor_instances.c - collectives in progress, and which of them may send (executor_parts.h).
 *
 * A list has the collectives that may send. One leaves it when it has nothing to send, and returns when a message of it
 * arrives or is acknowledged. If the window of a peer is full, the collective joins the list of this peer. Each
 * acknowledgement lets the first of that list try again, before all others. */
#include "base/split_mix.h"
#include "schedule/executor_parts.h"

#include <stdlib.h>

enum { FIRST_SLOTS = 8 };

/* ---- the table ---- */

static struct instance **first_of(struct instance_slot *slot, size_t slots, uint32_t group, uint32_t ordinal)
{
    return &slot[split_mix((uint64_t)group << 32 | ordinal) & (slots - 1)].first;
}

static void put(struct instance_slot *slot, size_t slots, struct instance *c)
{
    struct instance **first = first_of(slot, slots, c->group, c->ordinal);
    c->same = *first;
    *first = c;
}

static void grow(struct executor *e)
{
    size_t slots = e->slots ? 2 * e->slots : FIRST_SLOTS;
    struct instance_slot *slot = hx_allocate(slots, sizeof *slot);
    for (size_t i = 0; i < e->slots; i++) {
        for (struct instance *c = e->slot[i].first, *same; c; c = same) {
            same = c->same;
            put(slot, slots, c);
        }
    }
    free(e->slot);
    e->slot = slot;
    e->slots = slots;
}

struct instance *instance_find(const struct executor *e, uint32_t group, uint32_t ordinal)
{
    struct instance *c = e->slots ? *first_of(e->slot, e->slots, group, ordinal) : NULL;
    while (c && (c->group != group || c->ordinal != ordinal))
        c = c->same;
    return c;
}

struct instance *instance_add(struct executor *e, uint32_t group, uint32_t ordinal)
{
    struct instance *c = hx_allocate(1, sizeof *c);
    if (e->instances == e->slots)
        grow(e);
    e->instances++;
    c->group = group;
    c->ordinal = ordinal;
    c->group_number = schedule_groups_number(e->plan->groups, e->rank, group);
    c->operation = NONE;
    c->early = (struct list){NONE, NONE};
    put(e->slot, e->slots, c);
    return c;
}

void instance_remove(struct executor *e, struct instance *c)
{
    struct instance **at = first_of(e->slot, e->slots, c->group, c->ordinal);
    while (*at != c)
        at = &(*at)->same;
    *at = c->same;
    e->instances--;
    instance_unlist(e, c);
    HX_FREE(c->state, c);
}

void instances_close(struct executor *e)
{
    for (size_t i = 0; i < e->slots; i++) {
        while (e->slot[i].first)
            instance_remove(e, e->slot[i].first);
    }
    HX_FREE(e->slot, e->note, e->open);
}

/* ---- notes ---- */

void note_add(struct executor *e, struct list *list, struct note note)
{
    uint32_t number = e->note_free;
    if (number != NONE) {
        e->note_free = e->note[number].next;
    } else {
        e->note = hx_grow(e->note, e->note_used, &e->note_room, sizeof *e->note);
        number = (uint32_t)e->note_used++;
    }
    e->note[number] = note;
    e->note[number].next = NONE;
    if (list->last != NONE)
        e->note[list->last].next = number;
    else
        list->first = number;
    list->last = number;
}

struct note note_take(struct executor *e, struct list *list)
{
    uint32_t number = list->first;
    const struct note note = e->note[number];
    list->first = note.next;
    if (list->first == NONE)
        list->last = NONE;
    e->note[number].next = e->note_free;
    e->note_free = number;
    return note;
}

/* ---- those that may send ---- */

static void insert(struct executor *e, struct instance *c, struct instance *before, struct instance *next)
{
    c->listed = true;
    c->before = before;
    c->next = next;
    *(before ? &before->next : &e->first_sender) = c;
    *(next ? &next->before : &e->last_sender) = c;
}

void instance_list(struct executor *e, struct instance *c)
{
    if (!c->listed)
        insert(e, c, e->last_sender, NULL);
}

void instance_unlist(struct executor *e, struct instance *c)
{
    if (!c->listed)
        return;
    *(c->before ? &c->before->next : &e->first_sender) = c->next;
    *(c->next ? &c->next->before : &e->last_sender) = c->before;
    c->before = c->next = NULL;
    c->listed = false;
}

/* ---- windows ---- */

void instance_block(struct executor *e, struct instance *c, uint32_t peer, uint8_t lane)
{
    c->refused |= (uint32_t)1 << lane;
    note_add(e, &e->peer[peer].blocked, (struct note){.instance = c, .lane = lane});
}

void instances_open(struct executor *e, uint32_t peer)
{
    struct peer *p = &e->peer[peer];
    if (p->open || p->blocked.first == NONE)
        return;
    p->open = true;
    e->open = hx_grow(e->open, e->open_count, &e->open_room, sizeof *e->open);
    e->open[e->open_count++] = p->rank;
}

void instances_unblock(struct executor *e)
{
    while (e->open_count) {
        uint32_t peer = messages_peer(e, e->open[e->open_count - 1]);
        struct peer *p = &e->peer[peer];
        if (p->blocked.first != NONE && p->in_flight < e->plan->window) {
            const struct note note = note_take(e, &p->blocked);
            note.instance->refused &= ~((uint32_t)1 << note.lane);
            instance_unlist(e, note.instance);
            insert(e, note.instance, NULL, e->first_sender);
            return;
        }
        p->open = false;
        e->open_count--;
    }
}

bool instances_may_send(const struct executor *e)
{
    return e->first_sender || e->open_count;
}
