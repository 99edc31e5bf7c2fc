/* payload.c - verifiable payload (payload.h). Only adds, shifts and exclusive ors, which compilers vectorise. Freestanding. */
#include "fabric-emu/workload/payload.h"
#include "fabric-emu/random.h"
#include "hxmesh/memory.h"

static uint64_t key_of(const struct payload_id *id)
{
    uint64_t ends = (uint64_t)id->source << 32 | id->destination;
    uint64_t place = (uint64_t)id->message << 32 | id->packet;
    return random_of(id->seed, ends, place);
}

static uint64_t word_at(uint64_t key, uint64_t index)
{
    uint64_t x = key + index * UINT64_C(0x9E3779B97F4A7C15);
    return x ^ x >> 29;
}

void payload_write(const struct payload_id *id, uint8_t *to, unsigned bytes)
{
    uint64_t key = key_of(id);
    unsigned words = bytes / 8;
    for (unsigned i = 0; i < words; i++) {
        uint64_t word = word_at(key, i);
        memcpy(to + (size_t)i * 8, &word, 8);
    }
    uint64_t last = word_at(key, words);
    memcpy(to + (size_t)words * 8, &last, bytes % 8);
}

unsigned payload_wrong_bytes(const struct payload_id *id, const uint8_t *from, unsigned bytes)
{
    uint64_t key = key_of(id);
    unsigned words = bytes / 8;
    uint64_t differs = 0;
    for (unsigned i = 0; i < words; i++) {
        uint64_t word;
        memcpy(&word, from + (size_t)i * 8, 8);
        differs |= word ^ word_at(key, i);
    }
    uint64_t last = word_at(key, words);
    uint64_t rest = last;
    memcpy(&rest, from + (size_t)words * 8, bytes % 8);
    if (differs == 0 && rest == last)
        return 0;
    unsigned wrong = 0;
    for (unsigned i = 0; i < bytes; i++) {
        uint64_t word = word_at(key, i / 8);
        uint8_t expected[8];
        memcpy(expected, &word, 8);
        wrong += from[i] != expected[i % 8];
    }
    return wrong;
}
