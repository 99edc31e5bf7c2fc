/* bits.h - words of 64 bits that are gone through in turn, round and round: neither from where, nor whether what comes
 * next is before or behind that, can be foreseen, so there is no branch. */
#ifndef HX_BITS_H
#define HX_BITS_H

#include <stdint.h>

/* By any number, modulo 64. */
static inline uint64_t hx_rotate_right(uint64_t word, unsigned by)
{
    return word >> (by & 63) | word << (-by & 63);
}

/* The first bit that is set at or after `from` (below 64), or else the first of all; the word is not 0. */
static inline unsigned hx_next_bit(uint64_t word, unsigned from)
{
    return ((unsigned)__builtin_ctzll(hx_rotate_right(word, from)) + from) & 63;
}

#endif
