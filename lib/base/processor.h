/* processor.h - the cores of this machine, and this process's processor time. */
#ifndef HXMESH_BASE_PROCESSOR_H
#define HXMESH_BASE_PROCESSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the cores that this process may run on, at least 1. */
unsigned hx_processor_cores(void);

/* Returns the bytes of a core's own second-level cache; 2 MiB if unknown. */
size_t hx_processor_cache(void);

/* Returns the processor time of this process, with all its threads, ns. */
uint64_t hx_processor_ns(void);

/* Pins worker `self` of `workers` to a core. Otherwise wakeups draw communicating workers onto one core, and the
 * scheduler leaves a worker that often yields there. Returns false if there are fewer cores than workers, which then
 * share them evenly. Afterwards hx_processor_cores() returns 1. */
bool hx_processor_keep(unsigned self, unsigned workers);

#endif
