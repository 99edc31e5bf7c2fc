/* forwarding.c - times of packets that a host forwards (forwarding.h). */
#include "forwarding.h"
#include "hal_port.h" /* circle: hal_port.h is made of this part among others */

/* Moves the slot at `from` to `to`, and those in between back by one. */
static void pull_forward(const struct virtual_queue *q, uint16_t from, uint16_t to)
{
    const struct virtual_slot slot = *virtual_queue_at(q, from);
    for (; from != to; from--)
        *virtual_queue_at(q, from) = *virtual_queue_at(q, (uint16_t)(from - 1));
    *virtual_queue_at(q, to) = slot;
}

static void take_up(struct virtual_forwarding *f, struct virtual_slot *slot)
{
    uint64_t taken_up = slot->ready > f->free ? slot->ready : f->free;
    f->free = taken_up + virtual_blocks(&slot->d) * f->block;
    slot->ready = taken_up + f->delay;
}

void virtual_forwarding_decide(struct virtual_forwarding *f, struct virtual_rx *rx, unsigned vc, uint64_t now)
{
    const struct virtual_queue *q = &rx->queue[vc];
    uint16_t front = hx_lane(rx->ready, vc);
    uint16_t at = hx_lane(rx->decided, vc);
    for (; at != hx_lane(rx->head, vc); at++) {
        struct virtual_slot *slot = virtual_queue_at(q, at);
        if (slot->ready > now)
            break;
        if (slot->d.dst_addr_hi == f->addr_hi && slot->d.dst_addr_lo == f->addr_lo)
            pull_forward(q, at, front++);
        else
            take_up(f, slot);
    }
    rx->decided = hx_lane_set(rx->decided, vc, at);
}

uint64_t virtual_forwarding_next(const struct virtual_rx *rx, unsigned vc)
{
    uint16_t at = hx_lane(rx->ready, vc);
    uint16_t decided = hx_lane(rx->decided, vc);
    uint64_t goes = at != decided ? virtual_queue_at(&rx->queue[vc], at)->ready : VIRTUAL_NEVER;
    uint64_t comes =
        decided != hx_lane(rx->head, vc) ? virtual_queue_at(&rx->queue[vc], decided)->ready : VIRTUAL_NEVER;
    return goes < comes ? goes : comes;
}
