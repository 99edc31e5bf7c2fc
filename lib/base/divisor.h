/* divisor.h - the greatest common divisor of two numbers. */
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

#endif
