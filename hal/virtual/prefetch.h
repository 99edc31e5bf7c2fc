/* prefetch.h - asks for the memory that entities are going to touch while those before them in the window run.
 *
 * The state of a large fabric does not fit into a cache, what an endpoint keeps of its peers lies far apart, and where
 * routers are many each packet is alone with its tables: without this most of the time would go into waiting for
 * memory. Fetching changes nothing but speed. */
#ifndef VIRTUAL_PREPREFETCH_H
#define VIRTUAL_PREPREFETCH_H

#include "sim_node.h"

enum { VIRTUAL_PREFETCH_STAGES = 6 };

/* `ahead`: who is visited next, and after that, and so on; NULL where there is nobody. Each entity is asked for in as
 * many stages, one a visit: what a stage reads, those before it have asked for. `end`: of the window. */
void virtual_prefetch(struct virtual_sim_node *const ahead[VIRTUAL_PREFETCH_STAGES], uint64_t end);

/* Where all is handed over at once (outbox.h): what an endpoint reads of a packet that has left for it, its frame,
 * which its source had last, and of what is known of that source: where entities are near all of it, for which nobody
 * else asks there; elsewhere, for a small packet, which often is there within this window, where it is looked up. */
void virtual_prefetch_delivery(const struct hal_endpoint *h, const struct virtual_slot *slot);

/* Likewise, before a router's step: of the packets that wait for these outputs those whose turn it is. */
void virtual_prefetch_waiting(const struct virtual_node *n, uint64_t outputs);

/* Where entities are near, and nothing else is asked for ahead: what the endpoint of an accelerator reads in this
 * window that lies apart from it. Each packet is somebody else's, so none of that is in the nearest caches. */
void virtual_prefetch_apart(const struct virtual_sim_node *e, uint64_t end);

#endif
