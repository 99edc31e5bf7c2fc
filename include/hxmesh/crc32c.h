/* crc32c.h - CRC-32C (Castagnoli, reflected 0x82F63B78; RFC 3720 appendix B.4), portable, table driven. */
#ifndef HXMESH_CRC32C_H
#define HXMESH_CRC32C_H

#include <stddef.h>
#include <stdint.h>

#include "hxmesh/begin.h"

/* Returns the CRC-32C of `bytes` bytes that follow data with the CRC-32C `crc` (0 for no data). hx_crc32c(0,
 * "123456789", 9) is 0xE3069283. Reentrant. */
uint32_t hx_crc32c(uint32_t crc, const void *data, size_t bytes);

#include "hxmesh/end.h"

#endif
