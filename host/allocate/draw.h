/* draw.h - random numbers of a seeded row: below a bound, and exponential. */
#ifndef HXMESH_HOST_ALLOCATE_DRAW_H
#define HXMESH_HOST_ALLOCATE_DRAW_H

#include "hal/split_mix.h"

#include <math.h>

/* 0 .. bound-1 */
static inline uint32_t hx_draw_below(uint64_t *state, uint32_t bound)
{
    return (uint32_t)((split_mix_next(state) >> 32) * bound >> 32);
}

static inline double hx_draw_exponential(uint64_t *state, double mean)
{
    return -mean * log(((double)(split_mix_next(state) >> 11) + 0.5) * 0x1p-53);
}

#endif
