/* looks.h - hal_rx_pending() and hal_tx_ready() of a platform without notification: all ports are polled. */
#ifndef HAL_LOOKS_H
#define HAL_LOOKS_H

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

#endif
