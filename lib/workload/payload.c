/* payload.c - verifiable payload (payload.h). Only adds, shifts and exclusive ors, which compilers vectorize. The loops
 * are built for each vector width; the widest of the processor is used. Freestanding. */
#include "workload/payload.h"
#include "hxmesh/memory.h"
#include "workload/random.h"

#include <stdbool.h>

/* Difference of adjacent words, before they are mixed. */
#define STEP UINT64_C(0x9E3779B97F4A7C15)

#define INLINE static inline __attribute__((always_inline))

static uint64_t key_of(const struct payload_id *id)
{
    uint64_t ends = (uint64_t)id->source << 32 | id->destination;
    uint64_t place = (uint64_t)id->message << 32 | id->packet;
    return random_of(id->seed, ends, place);
}

INLINE uint64_t mixed(uint64_t x)
{
    return x ^ x >> 29;
}

static uint64_t word_at(uint64_t key, uint64_t index)
{
    return mixed(key + index * STEP);
}

INLINE void write_words(uint64_t key, uint8_t *to, unsigned count)
{
    uint64_t x = key;
    for (unsigned i = 0; i < count; i++, x += STEP) {
        uint64_t word = mixed(x);
        memcpy(to + (size_t)i * 8, &word, 8);
    }
}

INLINE uint64_t differing_bits(uint64_t key, const uint8_t *from, unsigned count)
{
    uint64_t x = key;
    uint64_t differs = 0;
    for (unsigned i = 0; i < count; i++, x += STEP) {
        uint64_t word;
        memcpy(&word, from + (size_t)i * 8, 8);
        differs |= word ^ mixed(x);
    }
    return differs;
}

/* Both loops for instruction sets that not every x86-64 has, and the choice among them. */
#if defined(__x86_64__)
#define BUILT_FOR(set, suffix)                                                                                         \
    __attribute__((target(set))) static void write_words_##suffix(uint64_t key, uint8_t *to, unsigned count)           \
    {                                                                                                                  \
        write_words(key, to, count);                                                                                   \
    }                                                                                                                  \
    __attribute__((target(set))) static uint64_t differing_bits_##suffix(uint64_t key, const uint8_t *from,            \
                                                                         unsigned count)                               \
    {                                                                                                                  \
        return differing_bits(key, from, count);                                                                       \
    }
BUILT_FOR("avx512f", avx512)
BUILT_FOR("avx2", avx2)
#define BY_TARGET(function, ...)                                                                                       \
    (__builtin_cpu_supports("avx512f") ? function##_avx512(__VA_ARGS__)                                                \
     : __builtin_cpu_supports("avx2")  ? function##_avx2(__VA_ARGS__)                                                  \
                                       : function(__VA_ARGS__))
#else
#define BY_TARGET(function, ...) function(__VA_ARGS__)
#endif

void payload_write(const struct payload_id *id, uint8_t *to, unsigned bytes)
{
    uint64_t key = key_of(id);
    unsigned words = bytes / 8;
    BY_TARGET(write_words, key, to, words);
    uint64_t last = word_at(key, words);
    memcpy(to + (size_t)words * 8, &last, bytes % 8);
}

static unsigned count_wrong(uint64_t key, const uint8_t *from, unsigned begin, unsigned end)
{
    unsigned wrong = 0;
    for (unsigned i = begin; i < end; i++) {
        uint64_t word = word_at(key, i / 8);
        uint8_t expected[8];
        memcpy(expected, &word, 8);
        wrong += from[i] != expected[i % 8];
    }
    return wrong;
}

unsigned payload_wrong_bytes(const struct payload_id *id, const uint8_t *from, unsigned bytes)
{
    uint64_t key = key_of(id);
    unsigned words = bytes / 8;
    bool differs = BY_TARGET(differing_bits, key, from, words) != 0;
    return count_wrong(key, from, differs ? 0 : words * 8, bytes);
}
