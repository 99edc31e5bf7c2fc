/* rng.h - seeded random numbers: below a bound, and exponential. The same seed gives the same numbers in any
 * program. */
#ifndef HXMESH_BASE_RNG_H
#define HXMESH_BASE_RNG_H

#include "base/split_mix.h"

#include <math.h>

/* Returns 0 .. bound-1; bound is at least 1. Any state is a valid seed. */
static inline uint32_t hx_rng_below(uint64_t *state, uint32_t bound)
{
    return (uint32_t)(split_mix_next(state) % bound);
}

/* Returns a number above 0. */
static inline double hx_rng_exponential(uint64_t *state, double mean)
{
    return -mean * log(((double)(split_mix_next(state) >> 11) + 0.5) * 0x1p-53);
}

#endif
