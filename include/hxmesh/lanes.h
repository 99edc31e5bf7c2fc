/* lanes.h - arithmetic on words of four 16-bit lanes, without carries from lane to lane.
 *
 * Lane 0 is the lowest. A lane holds a value of one VC (positions, credit: hal.h) or of one port. All arithmetic is
 * modulo 2^16 in each lane. */
#ifndef HXMESH_LANES_H
#define HXMESH_LANES_H

#include <stdbool.h>
#include <stdint.h>

#include "hxmesh/begin.h"

enum { HX_LANE_BITS = 16 };

#define HX_LANE_TOPS UINT64_C(0x8000800080008000)
#define HX_LANE_ONES UINT64_C(0x0001000100010001)

/* Returns lane 0 .. 3. */
static inline uint16_t hx_lane(uint64_t lanes, unsigned lane)
{
    return (uint16_t)(lanes >> (16 * lane));
}

/* Returns a + b in each lane. */
static inline uint64_t hx_lanes_add(uint64_t a, uint64_t b)
{
    return ((a & ~HX_LANE_TOPS) + (b & ~HX_LANE_TOPS)) ^ ((a ^ b) & HX_LANE_TOPS);
}

/* Returns a - b in each lane. */
static inline uint64_t hx_lanes_sub(uint64_t a, uint64_t b)
{
    return ((a | HX_LANE_TOPS) - (b & ~HX_LANE_TOPS)) ^ ((a ^ ~b) & HX_LANE_TOPS);
}

/* Sets *left to most - used in each lane. Lanes of `most` are below 2^15. Returns false, with *left undefined, if a
 * lane of `used` is greater than that of `most`. */
static inline bool hx_lanes_left(uint64_t *left, uint64_t most, uint64_t used)
{
    uint64_t difference = (most | HX_LANE_TOPS) - used; /* a lane that keeps its top bit had no borrow */
    *left = difference & ~HX_LANE_TOPS;
    return ((~difference | used) & HX_LANE_TOPS) == 0;
}

/* Returns the word with `n` added to one lane. */
static inline uint64_t hx_lane_add(uint64_t lanes, unsigned lane, unsigned n)
{
    unsigned before = (unsigned)(lanes >> (16 * lane));
    return lanes ^ (uint64_t)(uint16_t)(before ^ (before + n)) << (16 * lane);
}

/* Returns the word with one lane replaced. */
static inline uint64_t hx_lane_set(uint64_t lanes, unsigned lane, uint16_t value)
{
    return (lanes & ~((uint64_t)0xFFFF << (16 * lane))) | (uint64_t)value << (16 * lane);
}

/* Clears the lowest lane that is not 0 of *lanes, which is not 0. Returns its number. */
static inline unsigned hx_lanes_take(uint64_t *lanes)
{
    unsigned shift = (unsigned)__builtin_ctzll(*lanes) & 48;
    *lanes &= ~UINT64_C(0xFFFF) << shift; /* lower lanes are 0 */
    return shift / 16;
}

/* Returns the sum of the four lanes, which must be below 2^16. */
static inline unsigned hx_lanes_sum(uint64_t lanes)
{
    return (unsigned)((lanes * HX_LANE_ONES) >> 48);
}

#include "hxmesh/end.h"

#endif
