/* random.h - unpredictable numbers, from the system. */
#ifndef HXMESH_BASE_RANDOM_H
#define HXMESH_BASE_RANDOM_H

#include <stdint.h>

/* Returns 64 random bits. Dies if the system has none. */
uint64_t hx_random_64(void);

/* Returns the incarnation of an endpoint (hxmesh/endpoint.h), not 0. */
uint32_t hx_random_epoch(void);

#endif
