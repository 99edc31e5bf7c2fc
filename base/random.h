/* random.h - numbers that nobody can guess, from the system. */
#ifndef HXMESH_BASE_RANDOM_H
#define HXMESH_BASE_RANDOM_H

#include <stdint.h>

/* Dies if the system has none. */
uint64_t hx_random_64(void);

/* Not 0: of an endpoint that starts (hxmesh/endpoint.h). */
uint32_t hx_random_epoch(void);

#endif
