/* link_fault.h - the state of a faulty link at a time, and the dice that choose the packets it harms. All platforms and
 * schedules share it; spec/faults/faults.h has the schedule. */
#ifndef HXMESH_BASE_LINK_FAULT_H
#define HXMESH_BASE_LINK_FAULT_H

#include "base/split_mix.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Shares are parts of HX_FAULT_WHOLE, 0 .. HX_FAULT_WHOLE. */
enum { HX_FAULT_WHOLE = 1 << 30 };
struct hx_impairment {
    uint32_t loss, corrupt, duplicate, reorder, credit_loss;
    uint32_t rate;     /* share of its rate that the link keeps; 0: all */
    uint64_t delay_ns; /* 0 .. 1 s */
};

/* State of a link at a time. */
struct hx_link_state {
    bool down;     /* its packets are lost */
    bool closed;   /* as planned: it takes no new packets, and what it carries arrives; `down` may hold as well */
    bool impaired; /* `impairs` is not all 0 */
    struct hx_impairment impairs;
};

/* A change of a link's state, valid until the next change. */
struct hx_link_change {
    uint64_t at_ns;
    struct hx_link_state state;
    /* Index in the schedule of the fault that begins or ends. While the link is down or impaired, the latest one that
     * is not HX_FAULT_CLOSED. */
    size_t fault;
};

/* Packets and credits affected by faults. */
struct hx_fault_cost {
    uint64_t lost, corrupted, duplicated, reordered, credits_lost;
};

static inline void hx_fault_cost_add(struct hx_fault_cost *to, const struct hx_fault_cost *from)
{
    to->lost += from->lost;
    to->corrupted += from->corrupted;
    to->duplicated += from->duplicated;
    to->reordered += from->reordered;
    to->credits_lost += from->credits_lost;
}

/* Returns the increase since `before`. */
static inline struct hx_fault_cost hx_fault_cost_since(struct hx_fault_cost now, const struct hx_fault_cost *before)
{
    return (struct hx_fault_cost){.lost = now.lost - before->lost,
                                  .corrupted = now.corrupted - before->corrupted,
                                  .duplicated = now.duplicated - before->duplicated,
                                  .reordered = now.reordered - before->reordered,
                                  .credits_lost = now.credits_lost - before->credits_lost};
}

/* Returns a number 0 .. HX_FAULT_WHOLE-1 that depends on the seed, the link and direction (`link`), the number of
 * packets that it has carried, and the die. */
enum hx_fault_die { HX_DIE_LOSS, HX_DIE_CORRUPT, HX_DIE_DUPLICATE, HX_DIE_REORDER, HX_DIE_CREDIT, HX_DICE };
static inline uint32_t hx_fault_throw(uint64_t seed, uint64_t link, uint64_t packet, enum hx_fault_die die)
{
    return (uint32_t)(split_mix(split_mix(split_mix(seed) + link) + packet * HX_DICE + die) >> 34);
}

#endif
