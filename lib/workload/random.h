/* random.h - seeded pseudo-random numbers without state: each is a function of its purpose. */
#ifndef RANDOM_H
#define RANDOM_H

#include "base/split_mix.h"

static inline uint64_t random_of(uint64_t seed, uint64_t a, uint64_t b)
{
    return split_mix(split_mix(split_mix(seed) ^ a) ^ b);
}

/* A number from 0 to below-1, with a bias of at most 2^-32. */
static inline uint32_t random_below(uint64_t number, uint32_t below)
{
    return (uint32_t)((number >> 32) * below >> 32);
}

#endif
