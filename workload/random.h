/* random.h - seeded pseudo-random numbers that need no state: every number is a function of what it is for. */
#ifndef RANDOM_H
#define RANDOM_H

#include "base/split_mix.h"

static inline uint64_t random_of(uint64_t seed, uint64_t a, uint64_t b)
{
    return split_mix(split_mix(split_mix(seed) ^ a) ^ b);
}

/* 0 .. below-1; the bias of one in 2^32 does not matter here. */
static inline uint32_t random_below(uint64_t number, uint32_t below)
{
    return (uint32_t)((number >> 32) * below >> 32);
}

#endif
