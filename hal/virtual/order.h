/* order.h - when the order of packets, or chance, decided something in a switch.
 *
 * A switch chooses among outputs with equal credit by a random number, and examines VCs from one on that rotates with
 * each packet. Mostly both have no effect: routing offers one output, and packets of one VC wait for it. A period in
 * which they had none goes the same way whatever their values are. */
#ifndef VIRTUAL_ORDER_H
#define VIRTUAL_ORDER_H

#include "sim_node.h"

struct virtual_order {
    uint64_t chance;  /* ps: last packet with several outputs, or without any */
    uint64_t *turned; /* [simulated nodes][HX_MAX_PLANES] ps: last grant in which the first VC may have mattered */
};

static inline uint64_t *virtual_order_turned(const struct virtual_order *o, uint32_t sim_node, unsigned plane)
{
    return &o->turned[(size_t)sim_node * HX_MAX_PLANES + plane];
}

/* Before a grant of one output. */
void virtual_order_grant(const struct virtual_sim_node *e, const struct virtual_node *n, unsigned output);

/* A packet that routing offers these outputs. */
static inline void virtual_order_offers(struct virtual_worker *w, uint64_t offered)
{
    if (offered == 0 || (offered & (offered - 1)))
        w->order->chance = w->now;
}

#endif
