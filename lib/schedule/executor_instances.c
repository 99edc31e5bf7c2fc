/* executor_instances.c - collectives in progress, and which of them may send (executor_parts.h).
 *
 * A list has the collectives that may send. One leaves it when it has nothing to send, and returns when a message of it
 * arrives or is acknowledged. If the window of a peer is full, the collective joins the list of this peer. Each
 * acknowledgement lets the first of that list try again, before all others. */
#include "schedule/executor_parts.h"

#include <stdlib.h>

/* ---- found by group and ordinal ---- */

static uint64_t key_of(uint32_t group, uint32_t ordinal)
{
    return (uint64_t)group << 32 | ordinal;
}

struct instance *instance_find(const struct executor *e, uint32_t group, uint32_t ordinal)
{
    const uint64_t key = key_of(group, ordinal);
    const struct found_instance *f = hx_table_find(&e->instances, &key);
    return f ? f->instance : NULL;
}

struct instance *instance_add(struct executor *e, uint32_t group, uint32_t ordinal)
{
    struct instance *c = hx_allocate(1, sizeof *c);
    c->group = group;
    c->ordinal = ordinal;
    c->group_number = schedule_groups_number(e->plan->groups, e->rank, group);
    c->operation = NONE;
    c->early = (struct list){NONE, NONE};
    const uint64_t key = key_of(group, ordinal);
    struct found_instance *f = hx_table_add(&e->instances, &key);
    f->instance = c;
    return c;
}

void instance_remove(struct executor *e, struct instance *c)
{
    const uint64_t key = key_of(c->group, c->ordinal);
    hx_table_remove(&e->instances, hx_table_find(&e->instances, &key));
    instance_unlist(e, c);
    HX_FREE(c->state, c);
}

void instances_close(struct executor *e)
{
    size_t at = 0;
    for (const struct found_instance *f; (f = hx_table_each(&e->instances, &at)) != NULL;)
        HX_FREE(f->instance->state, f->instance);
    hx_table_free(&e->instances);
    HX_FREE(e->note, e->open);
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

void instance_block(struct executor *e, struct instance *c, uint32_t peer, uint8_t queue)
{
    c->refused |= (uint32_t)1 << queue;
    note_add(e, &e->peer[peer].blocked, (struct note){.instance = c, .queue = queue});
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
            note.instance->refused &= ~((uint32_t)1 << note.queue);
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
