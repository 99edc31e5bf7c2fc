/* siphash.h - SipHash-2-4, a keyed hash (Aumasson and Bernstein, 2012). Words of 8 bytes are hashed in little-endian
 * order.
 *
 *     hx_sip_begin -> hx_sip_word ... -> hx_sip_end with the last 0 to 7 bytes, and the total length */
#ifndef HX_SIPHASH_H
#define HX_SIPHASH_H

#include <stddef.h>
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

static inline struct hx_sip hx_sip_begin(const uint64_t key[2])
{
    return (struct hx_sip){key[0] ^ UINT64_C(0x736f6d6570736575), key[1] ^ UINT64_C(0x646f72616e646f6d),
                           key[0] ^ UINT64_C(0x6c7967656e657261), key[1] ^ UINT64_C(0x7465646279746573)};
}

static inline void hx_sip_word(struct hx_sip *s, uint64_t word)
{
    s->d ^= word;
    hx_sip_rounds(s, 2);
    s->a ^= word;
}

/* Returns the hash. rest: the bytes after the last word, zero-extended. length: of the whole text. */
static inline uint64_t hx_sip_end(struct hx_sip *s, uint64_t rest, size_t length)
{
    hx_sip_word(s, rest | (uint64_t)length << 56);
    s->c ^= 0xFF;
    hx_sip_rounds(s, 4);
    return s->a ^ s->b ^ s->c ^ s->d;
}

/* Returns the hash of one word. */
static inline uint64_t hx_siphash(const uint64_t key[2], uint64_t word)
{
    struct hx_sip s = hx_sip_begin(key);
    hx_sip_word(&s, word);
    return hx_sip_end(&s, 0, sizeof word);
}

#endif
