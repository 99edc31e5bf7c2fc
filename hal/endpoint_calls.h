/* endpoint_calls.h - calls of an endpoint that platforms share. A hal_port.h includes it after struct hal_endpoint. */
#ifndef HAL_ENDPOINT_CALLS_H
#define HAL_ENDPOINT_CALLS_H

#include "hal/simd/crc32c.h"

static inline uint32_t hal_crc32c(uint32_t crc, const void *data, size_t bytes)
{
    return simd_crc32c(crc, data, bytes);
}

static inline const struct hal_user *hal_user(const struct hal_endpoint *h)
{
    return &h->user;
}

static inline void hal_endpoint_drop(struct hal_endpoint *h, enum hx_drop reason)
{
    h->drops[reason]++;
}

#endif
