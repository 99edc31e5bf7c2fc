/* crc32c.h - hx_crc32c (hxmesh/crc32c.h) by the widest instructions that the processor of this machine has; which those
 * are is found out before main. For platforms that run under an operating system. */
#ifndef SIMD_CRC32C_H
#define SIMD_CRC32C_H

#include <stddef.h>
#include <stdint.h>

uint32_t simd_crc32c(uint32_t crc, const void *data, size_t bytes);

/* The ways there are, widest last, for those who compare them. NULL: this machine has not that one, or there are no
 * more. */
enum { SIMD_CRC32C_VARIANTS = 3 };
uint32_t (*simd_crc32c_variant(unsigned variant))(uint32_t crc, const void *data, size_t bytes);

#endif
