/* split_mix.h - pseudo-random numbers of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014). Freestanding. */
#ifndef HAL_SPLIT_MIX_H
#define HAL_SPLIT_MIX_H

#include <stddef.h>
#include <stdint.h>

#define SPLIT_MIX_STEP UINT64_C(0x9E3779B97F4A7C15)

/* Returns a number that depends only on x. */
static inline uint64_t split_mix(uint64_t x)
{
    x += SPLIT_MIX_STEP;
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

/* Returns the next number of a sequence; any state is a valid seed. */
static inline uint64_t split_mix_next(uint64_t *state)
{
    uint64_t number = split_mix(*state);
    *state += SPLIT_MIX_STEP;
    return number;
}

/* Returns a hash of bytes; `before`: that of those before them, 0 at first. Not against attackers. */
static inline uint64_t split_mix_bytes(uint64_t before, const void *from, size_t bytes)
{
    const uint8_t *at = from;
    uint64_t hash = before ^ bytes;
    uint64_t word = 0;
    for (; bytes >= sizeof word; at += sizeof word, bytes -= sizeof word) {
        __builtin_memcpy(&word, at, sizeof word);
        hash = (hash ^ word) * SPLIT_MIX_STEP;
        hash ^= hash >> 32;
    }
    word = 0;
    __builtin_memcpy(&word, at, bytes);
    return split_mix(hash ^ word);
}

#endif
