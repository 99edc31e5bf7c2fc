/* bytes.h - numbers in network byte order, at any alignment, on any processor. */
#ifndef HX_BYTES_H
#define HX_BYTES_H

#include "hxmesh/memory.h"

#include <stdint.h>

static inline void hx_put16(uint8_t *to, uint32_t value)
{
    to[0] = (uint8_t)(value >> 8);
    to[1] = (uint8_t)value;
}

static inline void hx_put32(uint8_t *to, uint32_t value)
{
    hx_put16(to, value >> 16);
    hx_put16(to + 2, value);
}

static inline void hx_put64(uint8_t *to, uint64_t value)
{
    hx_put32(to, (uint32_t)(value >> 32));
    hx_put32(to + 4, (uint32_t)value);
}

/* Like hx_put16 and hx_put32, as one store. For adjacent byte stores of several fields the compiler builds a vector,
 * which is slower. */
static inline void hx_put_whole16(uint8_t *to, uint16_t value)
{
    uint16_t big = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? __builtin_bswap16(value) : value;
    memcpy(to, &big, sizeof big);
}

static inline void hx_put_whole32(uint8_t *to, uint32_t value)
{
    uint32_t big = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? __builtin_bswap32(value) : value;
    memcpy(to, &big, sizeof big);
}

static inline uint16_t hx_get16(const uint8_t *from)
{
    return (uint16_t)(from[0] << 8 | from[1]);
}

static inline uint32_t hx_get32(const uint8_t *from)
{
    return (uint32_t)hx_get16(from) << 16 | hx_get16(from + 2);
}

static inline uint64_t hx_get64(const uint8_t *from)
{
    return (uint64_t)hx_get32(from) << 32 | hx_get32(from + 4);
}

#endif
