/* crc.h - CRC-32C for the firmware (hal/simd/crc32c.h), and the time it takes. */
#ifndef SHM_CRC_H
#define SHM_CRC_H

#include "clock.h"
#include "hal/simd/crc32c.h"

/* One per process: the firmware does not name the endpoint. */
struct shm_crc {
    const struct shm_clock *clock; /* NULL: not measured */
    uint64_t ns;                   /* total */
};
extern struct shm_crc shm_crc;

static inline uint32_t hal_crc32c(uint32_t crc, const void *data, size_t bytes)
{
    if (!shm_crc.clock)
        return simd_crc32c(crc, data, bytes);
    uint64_t began = shm_clock_ns(shm_crc.clock);
    uint32_t sum = simd_crc32c(crc, data, bytes);
    shm_crc.ns += shm_clock_ns(shm_crc.clock) - began;
    return sum;
}

#endif
