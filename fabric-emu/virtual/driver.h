/* driver.h - what drives an endpoint under the virtual clock: joins it to its workload, and keeps its timeouts. */
#ifndef DRIVER_H
#define DRIVER_H

#include "state.h"

/* Memory of an accelerator's endpoint and workload, which in huge pages is there as soon as some of it is touched. */
uint64_t driver_bytes(const struct model *m, uint32_t rank);

/* Makes the endpoint of an accelerator and lets it begin at time 0. */
void driver_start(struct driver *d, struct worker *w, struct virtual_sim_node *e, uint32_t rank);

#endif
