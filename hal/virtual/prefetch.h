/* prefetch.h - prefetches the data of simulated nodes while the nodes before them run.
 *
 * A large fabric does not fit into a cache, an endpoint's peers lie far apart, and each packet at a router uses other
 * table entries. Without prefetching most time goes into cache misses. It has no other effect. */
#ifndef VIRTUAL_PREFETCH_H
#define VIRTUAL_PREFETCH_H

#include "sim_node.h"

enum { VIRTUAL_PREFETCH_STAGES = 6 };

/* A visit to a node in this window, and what earlier stages found about it. */
struct virtual_visit {
    struct virtual_sim_node *node; /* NULL: an empty visit */
    bool opens;                    /* an output opens or gets credit */
    bool wakes;                    /* an event is for the endpoint */
};

/* Runs one prefetch stage for each of the next visits: `ahead` [VIRTUAL_PREFETCH_STAGES]. A visit passes through all
 * stages, one at a time; each stage reads what earlier ones prefetched. `end`: of the window. */
void virtual_prefetch(struct virtual_visit *ahead, uint64_t end);

/* For handover at once (outbox.h): prefetches the frame of a packet that is sent to an endpoint, and state about its
 * source. If nodes are near, that is all of the state. Otherwise it is the place to look it up, for small packets
 * only. */
void virtual_prefetch_delivery(const struct hal_endpoint *h, const struct virtual_slot *slot);

/* For nodes that are near: prefetches the data that an accelerator's endpoint reads in this window outside its own
 * memory. Each packet has another peer, so that data is not in the nearest caches. */
void virtual_prefetch_apart(const struct virtual_sim_node *e, uint64_t end);

#endif
