/* random.h - seeded pseudo-random numbers that need no state: every number is a function of what it is for.
 * The mixing steps are those of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014). */
#ifndef RANDOM_H
#define RANDOM_H

#include <stdint.h>

static inline uint64_t random_mix(uint64_t x)
{
    x += UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

static inline uint64_t random_of(uint64_t seed, uint64_t a, uint64_t b)
{
    return random_mix(random_mix(random_mix(seed) ^ a) ^ b);
}

/* 0 .. below-1; the bias of one in 2^32 does not matter here. */
static inline uint32_t random_below(uint64_t number, uint32_t below)
{
    return (uint32_t)((number >> 32) * below >> 32);
}

#endif
