/* driver.h - drives an endpoint under the virtual clock: binds it to its workload and keeps its timeouts. */
#ifndef DRIVER_H
#define DRIVER_H

#include "state.h"

/* Bytes of an accelerator's endpoint and workload in huge pages, which are resident from the first touch. */
uint64_t driver_bytes(const struct model *m, uint32_t rank);

void driver_start(struct driver *d, struct worker *w, struct virtual_sim_node *e, uint32_t rank);

#endif
