/* powers.h - powers of two. */
#ifndef HXMESH_BASE_POWERS_H
#define HXMESH_BASE_POWERS_H

#include <stdbool.h>
#include <stdint.h>

static inline bool hx_is_power_of_two(uint64_t n)
{
    return n && (n & (n - 1)) == 0;
}

/* Returns the least power of two that is at least `least`, up to 2^31. */
static inline uint32_t hx_power_of_two(uint32_t least)
{
    uint32_t p = 1;
    while (p < least)
        p *= 2;
    return p;
}

#endif
