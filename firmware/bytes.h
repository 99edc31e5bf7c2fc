/* bytes.h - numbers in network byte order, as they stand in frames: at any address, whatever the processor's order. */
#ifndef HX_BYTES_H
#define HX_BYTES_H

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
