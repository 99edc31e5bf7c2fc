/* crc32c.h - hx_crc32c (hxmesh/crc32c.h) by the widest instructions of this processor, selected before main. For
 * platforms under an operating system. */
#ifndef SIMD_CRC32C_H
#define SIMD_CRC32C_H

#include <stddef.h>
#include <stdint.h>

uint32_t simd_crc32c(uint32_t crc, const void *data, size_t bytes);

/* Returns an implementation, the widest last, for comparison. NULL: this processor lacks it, or no such number. */
enum { SIMD_CRC32C_VARIANTS = 3 };
uint32_t (*simd_crc32c_variant(unsigned variant))(uint32_t crc, const void *data, size_t bytes);

#endif
