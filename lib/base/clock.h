/* clock.h - the system's monotonic clock. */
#ifndef HXMESH_BASE_CLOCK_H
#define HXMESH_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Returns CLOCK_MONOTONIC, ns. */
static inline uint64_t hx_monotonic_ns(void)
{
    struct timespec monotonic;
    (void)clock_gettime(CLOCK_MONOTONIC, &monotonic);
    return (uint64_t)monotonic.tv_sec * 1000000000U + (uint64_t)monotonic.tv_nsec;
}

/* Returns CLOCK_MONOTONIC, s. */
static inline double hx_monotonic_seconds(void)
{
    return (double)hx_monotonic_ns() * 1e-9;
}

#endif
