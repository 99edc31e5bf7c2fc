/* driver.h - drives an endpoint under the virtual clock: binds it to its workload and keeps its timeouts. */
#ifndef DRIVER_H
#define DRIVER_H

#include "state.h"

/* Bytes of an accelerator's endpoint and workload in huge pages, which are resident from the first touch. */
uint64_t driver_bytes(const struct model *m, uint32_t rank);

/* Time of a block on all links of a host to a plane, 2^-16 ps, rounded up: never faster than these links. */
uint64_t driver_block(const struct model *m, uint32_t rank);

/* Call when the sources of the run have stopped: then the accelerator is active only while something is in flight. */
void driver_stopped(struct driver *d);
/* Takes the marked messages that the accelerator has not begun, and returns their number. Call at the end. */
uint64_t driver_marked_waiting(struct driver *d);

/* The workload has something to do at a time, which has not passed. */
void driver_wake(struct driver *d, uint64_t at);

void driver_start(struct driver *d, struct worker *w, struct virtual_sim_node *e, uint32_t rank);

#endif
