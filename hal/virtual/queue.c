/* queue.c - rings that grow and are freed (queue.h). */
#include "queue.h"
#include "arena.h"
#include "inline.h"

static uint32_t larger(const void *ring, uint32_t mask)
{
    uint32_t before = mask + 1;
    if (ring)
        return 2 * before;
    return before > 2 * VIRTUAL_LINE_SLOTS ? before / 2 : VIRTUAL_LINE_SLOTS;
}

static struct virtual_queue queue_of(const struct virtual_slot *ring, uint32_t slots)
{
    return (struct virtual_queue){.slots = (uintptr_t)ring & VIRTUAL_ADDRESS, .mask = (slots - 1) & UINT16_MAX};
}

NOINLINE void virtual_queue_begin(struct virtual_queue *q)
{
    uint32_t slots = larger(NULL, q->mask);
    *q = queue_of(virtual_arena_take_ring(slots * sizeof(struct virtual_slot)), slots);
}

NOINLINE void virtual_queue_grow(struct virtual_queue *q, uint16_t tail, uint16_t head)
{
    uint32_t slots = larger(virtual_queue_slots(q), q->mask);
    struct virtual_slot *ring = virtual_arena_take_ring(slots * sizeof *ring);
    for (uint16_t position = tail; position != head; position++)
        ring[position & (slots - 1)] = *virtual_queue_at(q, position);
    virtual_queue_end(q);
    *q = queue_of(ring, slots);
}

NOINLINE void virtual_queue_end(struct virtual_queue *q)
{
    virtual_arena_give_ring(virtual_queue_slots(q), (q->mask + 1U) * sizeof(struct virtual_slot));
    q->slots = 0;
}

static void use(struct virtual_credits *c, uint64_t *entries, uint32_t places)
{
    c->entries = entries;
    c->mask = (uint16_t)(places - 1);
    c->head = c->tail = 0;
    for (uint32_t at = 0; at < places; at++)
        entries[at] = VIRTUAL_NO_CREDIT;
}

void virtual_credits_begin(struct virtual_credits *c)
{
    use(c, c->few, VIRTUAL_FEW_CREDITS);
}

NOINLINE void virtual_credits_grow(struct virtual_credits *c)
{
    const struct virtual_credits full = *c;
    const uint64_t *from = c->entries == c->few ? full.few : full.entries;
    uint32_t places = full.mask + 1U;
    use(c, virtual_arena_take_ring(2 * places * sizeof *from), 2 * places);
    for (uint32_t n = 0; n < places; n++)
        c->entries[c->head++] = from[(full.tail + n) & full.mask];
    if (from == full.entries)
        virtual_arena_give_ring(full.entries, places * sizeof *from);
}

NOINLINE void virtual_credits_end(struct virtual_credits *c)
{
    if (c->entries != c->few)
        virtual_arena_give_ring(c->entries, (c->mask + 1U) * sizeof *c->entries);
    virtual_credits_begin(c);
}

NOINLINE void virtual_eject_grow(struct virtual_eject *q)
{
    uint32_t slots = larger(q->slots, q->mask);
    struct virtual_slot *ring = virtual_arena_take_ring(slots * sizeof *ring);
    for (uint32_t at = q->tail; q->slots && at != q->head; at++)
        ring[at & (slots - 1)] = q->slots[at & q->mask];
    virtual_eject_end(q);
    q->slots = ring;
    q->mask = slots - 1;
}

void virtual_eject_end(struct virtual_eject *q)
{
    virtual_arena_give_ring(q->slots, (q->mask + 1) * sizeof *q->slots);
    q->slots = NULL;
}
