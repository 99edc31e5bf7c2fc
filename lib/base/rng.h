/* rng.h - seeded random numbers: below a bound, below 1, exponential, and random orders. The same seed gives the same
 * numbers in any program. */
#ifndef HXMESH_BASE_RNG_H
#define HXMESH_BASE_RNG_H

#include "base/split_mix.h"

#include <math.h>

/* Returns 0 .. bound-1; bound is at least 1. Any state is a valid seed. */
static inline uint32_t hx_rng_below(uint64_t *state, uint32_t bound)
{
    return (uint32_t)(split_mix_next(state) % bound);
}

/* Returns a number above 0 and below 1. */
static inline double hx_rng_share(uint64_t *state)
{
    return ((double)(split_mix_next(state) >> 11) + 0.5) * 0x1p-53;
}

/* Returns a number above 0. */
static inline double hx_rng_exponential(uint64_t *state, double mean)
{
    return -mean * log(hx_rng_share(state));
}

/* Brings numbers into a random order. */
static inline void hx_rng_shuffle(uint64_t *state, uint32_t *numbers, uint32_t count)
{
    for (uint32_t left = count; left > 1; left--) {
        uint32_t other = hx_rng_below(state, left);
        uint32_t last = numbers[left - 1];
        numbers[left - 1] = numbers[other];
        numbers[other] = last;
    }
}

#endif
