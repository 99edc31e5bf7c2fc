/* divisor.h - the greatest common divisor of two numbers, and quotients rounded up. */
#ifndef HXMESH_BASE_DIVISOR_H
#define HXMESH_BASE_DIVISOR_H

#include <stdint.h>

static inline uint32_t hx_common_divisor(uint32_t a, uint32_t b)
{
    while (b) {
        const uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* by: 1 and up. */
static inline uint64_t hx_divide_up(uint64_t number, uint64_t by)
{
    return number / by + (number % by != 0);
}

#endif
