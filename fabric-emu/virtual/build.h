/* build.h - the entities of one worker, bound to each other and to those of other workers. */
#ifndef BUILD_H
#define BUILD_H

#include "state.h"

void build_worker(struct worker *w, const struct model *m, unsigned self);

/* What all workers together allocate for the state of the fabric: all they take but packets under way, and what an
 * endpoint seldom touches, or has for messages of which few are under way at once (hx_endpoint_sizes). */
uint64_t build_bytes(const struct model *m);

#endif
