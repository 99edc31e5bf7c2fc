/* build.h - makes the simulated nodes of one worker and binds their links. */
#ifndef BUILD_H
#define BUILD_H

#include "state.h"

void build_worker(struct worker *w, const struct model *m, unsigned self);

/* Bytes of the fabric's state in all workers. Not included: packets in flight, and parts of an endpoint that are rarely
 * touched (hx_endpoint_sizes). */
uint64_t build_bytes(const struct model *m);

#endif
