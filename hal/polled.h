/* polled.h - hal_rx_pending() and hal_tx_ready() of a platform without notification: all ports are polled.
 * hal_output_is_busy() of one with outputs that take a packet at once. */
#ifndef HAL_POLLED_H
#define HAL_POLLED_H

#include "hxmesh/hal.h"

static inline uint64_t hal_rx_pending(const struct hal_switch *h)
{
    (void)h;
    return UINT64_MAX;
}

static inline uint64_t hal_tx_ready(const struct hal_switch *h)
{
    (void)h;
    return UINT64_MAX;
}

static inline bool hal_output_is_busy(struct hal_switch *h, unsigned output)
{
    (void)h;
    (void)output;
    return false;
}

#endif
