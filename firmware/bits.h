/* bits.h - round-robin search in words of 64 bits. Branch-free: start and result are unpredictable. */
#ifndef HX_BITS_H
#define HX_BITS_H

#include <stdint.h>

/* `by` is taken modulo 64. */
static inline uint64_t hx_rotate_right(uint64_t word, unsigned by)
{
    return word >> (by & 63) | word << (-by & 63);
}

/* Returns the first set bit at or after `from` (below 64), else the first of all. The word is not 0. */
static inline unsigned hx_next_bit(uint64_t word, unsigned from)
{
    return ((unsigned)__builtin_ctzll(hx_rotate_right(word, from)) + from) & 63;
}

#endif
