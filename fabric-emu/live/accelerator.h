/* accelerator.h - drives a host's endpoint: connects it to its workload, keeps records for a successor. */
#ifndef ACCELERATOR_H
#define ACCELERATOR_H

#include "node.h"

/* Bytes that the endpoint of a host needs: a multiple of 64. */
size_t accelerator_bytes(const struct worker *w, uint32_t rank);

/* Starts the endpoint in `memory` (zeroed) with its worker's incarnation. Resumes what a predecessor began. */
void accelerator_start(struct accelerator *a, void *memory);
void accelerator_stop(struct accelerator *a);

/* Begins messages while there is room, and steps the endpoint. Returns packets sent and received. */
unsigned accelerator_step(struct accelerator *a, bool may_begin);

/* Time until the next message is due; UINT64_MAX: no message waits for a time. */
uint64_t accelerator_wait_ns(const struct accelerator *a);

/* Fails messages without a path: their host is gone or cut off, or they are late and no path leads there and back. A
 * host that is only slow has a path; a minute of probes without news is its limit. Later messages to a host without a
 * path fail at once, until accelerator_paths_changed(): call it when paths may have changed. */
void accelerator_give_up(struct accelerator *a);
void accelerator_paths_changed(struct accelerator *a);

/* Returns whether nothing is left to send or to acknowledge. Without `may_begin` only messages in flight count. */
bool accelerator_is_done(const struct accelerator *a, bool may_begin);

#endif
