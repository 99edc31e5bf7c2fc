/* queue.c - growth of rings (queue.h). */
#include "queue.h"
#include "stock.h"

enum { FIRST_SLOTS = 2 }; /* a cache line of packets: more than wait at most inputs of a fabric that keeps up */

/* The next larger ring for elements of this size; *slots: of the old one, 0 if there is none. */
static void *grown_ring(uint32_t *slots, size_t size)
{
    *slots = *slots ? 2 * *slots : FIRST_SLOTS;
    return virtual_stock_take_ring(*slots * size);
}

static uint32_t slots_of(const void *ring, uint32_t mask)
{
    return ring ? mask + 1 : 0;
}

void virtual_queue_grow(struct virtual_queue *q, uint16_t tail, uint16_t head)
{
    uint32_t slots = slots_of(q->slots, q->mask);
    struct virtual_slot *ring = grown_ring(&slots, sizeof *ring);
    for (uint16_t position = tail; q->slots && position != head; position++)
        ring[position & (slots - 1)] = *virtual_queue_at(q, position);
    virtual_stock_give_ring(q->slots, slots / 2 * sizeof *ring);
    *q = (struct virtual_queue){ring, slots - 1};
}

void virtual_credits_grow(struct virtual_credits *c)
{
    uint32_t slots = slots_of(c->entries, c->mask);
    uint64_t *ring = grown_ring(&slots, sizeof *ring);
    for (uint32_t at = c->tail; c->entries && at != c->head; at++)
        ring[at & (slots - 1)] = c->entries[at & c->mask];
    virtual_stock_give_ring(c->entries, slots / 2 * sizeof *ring);
    c->entries = ring;
    c->mask = slots - 1;
}

void virtual_eject_grow(struct virtual_eject *q)
{
    uint32_t slots = slots_of(q->slots, q->mask);
    struct virtual_slot *ring = grown_ring(&slots, sizeof *ring);
    for (uint32_t at = q->tail; q->slots && at != q->head; at++)
        ring[at & (slots - 1)] = q->slots[at & q->mask];
    virtual_stock_give_ring(q->slots, slots / 2 * sizeof *ring);
    q->slots = ring;
    q->mask = slots - 1;
}
