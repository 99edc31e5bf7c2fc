/* siphash.h - SipHash-2-4 (Aumasson and Bernstein, 2012) of one word of 8 bytes: who does not have the key cannot tell
 * the hash of one word from those of others. */
#ifndef HX_SIPHASH_H
#define HX_SIPHASH_H

#include <stdint.h>

struct hx_sip {
    uint64_t a, b, c, d;
};

static inline uint64_t hx_sip_turn(uint64_t word, unsigned bits)
{
    return word << bits | word >> (64 - bits);
}

static inline void hx_sip_rounds(struct hx_sip *s, unsigned rounds)
{
    while (rounds-- > 0) {
        s->a += s->b;
        s->c += s->d;
        s->b = hx_sip_turn(s->b, 13) ^ s->a;
        s->d = hx_sip_turn(s->d, 16) ^ s->c;
        s->a = hx_sip_turn(s->a, 32) + s->d;
        s->c += s->b;
        s->d = hx_sip_turn(s->d, 21) ^ s->a;
        s->b = hx_sip_turn(s->b, 17) ^ s->c;
        s->c = hx_sip_turn(s->c, 32);
    }
}

static inline void hx_sip_word(struct hx_sip *s, uint64_t word)
{
    s->d ^= word;
    hx_sip_rounds(s, 2);
    s->a ^= word;
}

/* The word's bytes are hashed in little-endian order. */
static inline uint64_t hx_siphash(const uint64_t key[2], uint64_t word)
{
    struct hx_sip s = {key[0] ^ UINT64_C(0x736f6d6570736575), key[1] ^ UINT64_C(0x646f72616e646f6d),
                       key[0] ^ UINT64_C(0x6c7967656e657261), key[1] ^ UINT64_C(0x7465646279746573)};
    hx_sip_word(&s, word);
    hx_sip_word(&s, (uint64_t)sizeof word << 56);
    s.c ^= 0xFF;
    hx_sip_rounds(&s, 4);
    return s.a ^ s.b ^ s.c ^ s.d;
}

#endif
