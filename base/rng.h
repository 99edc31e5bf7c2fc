/* rng.h - random numbers of a seeded row: below a bound, and exponential. The same seed draws the same, in any
 * program. */
#ifndef HXMESH_BASE_RNG_H
#define HXMESH_BASE_RNG_H

#include "base/split_mix.h"

#include <math.h>

/* 0 .. bound-1; bound is 1 and up. Any state begins a row. */
static inline uint32_t hx_rng_below(uint64_t *state, uint32_t bound)
{
    return (uint32_t)(split_mix_next(state) % bound);
}

/* Above 0. */
static inline double hx_rng_exponential(uint64_t *state, double mean)
{
    return -mean * log(((double)(split_mix_next(state) >> 11) + 0.5) * 0x1p-53);
}

#endif
