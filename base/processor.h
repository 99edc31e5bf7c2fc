/* processor.h - the processors of this machine, and the time this process has had of them. */
#ifndef HXMESH_BASE_PROCESSOR_H
#define HXMESH_BASE_PROCESSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Cores that this process may run on, at least 1. */
unsigned hx_processor_cores(void);

/* Bytes of the cache that is a core's own and next to its first one; 2 MiB where the machine does not tell. */
size_t hx_processor_cache(void);

/* Processor time of this process, all its threads together, in nanoseconds. */
uint64_t hx_processor_ns(void);

/* Keeps worker `self` of `workers` on a core of its own: wake-ups would draw workers that talk onto one core, in turns.
 * false: there are fewer cores, and it shares one with its neighbours, as many on each. Who gives way again and again
 * to others is left where it is while other cores have work of whomever, so that all might come to stand on one. Ask
 * nothing else: it has one core afterwards, whichever it is. */
bool hx_processor_keep(unsigned self, unsigned workers);

#endif
