/* support_random.h - seeded random numbers of tests: equal seeds give equal runs on every machine. */
#ifndef HXMESH_TESTS_SUPPORT_RANDOM_H
#define HXMESH_TESTS_SUPPORT_RANDOM_H

#include "base/split_mix.h"

#include <stdlib.h>

/* Sanitized tests begin at other seeds than plain ones. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { SEEDED_APART = 1000000 };
#else
enum { SEEDED_APART = 0 };
#endif

/* The seed of HX_SEED, or `otherwise`; under a sanitizer one far from `otherwise`. */
static inline uint64_t seeded_by(uint64_t otherwise)
{
    const char *text = getenv("HX_SEED");
    return text ? strtoull(text, NULL, 0) : otherwise + SEEDED_APART;
}

static inline uint64_t seeded_next(uint64_t *state)
{
    return split_mix_next(state);
}

/* Random number in 0 .. bound - 1; 0 if `bound` is 0. */
static inline uint32_t seeded_below(uint64_t *state, uint64_t bound)
{
    return bound ? (uint32_t)(seeded_next(state) % bound) : 0;
}

#endif
