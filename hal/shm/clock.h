/* clock.h - nanoseconds, cheap enough to read at every endpoint step.
 *
 * Reads the processor's counter if it is constant and shared by all cores, else the system's monotonic clock. Zero lies
 * before the start of the process. All processes forked after shm_clock_start() agree. */
#ifndef SHM_CLOCK_H
#define SHM_CLOCK_H

#include "base/clock.h"

struct shm_clock {
    uint64_t ticks, ns; /* read at one instant */
    uint64_t scale;     /* ns a tick, times 2^32; 0: use the system's clock */
};

/* Measures the counter against the system's clock for 5 ms. */
void shm_clock_start(struct shm_clock *c);

#if defined(__x86_64__)
#include <x86intrin.h>
static inline uint64_t shm_clock_ticks(void)
{
    return __rdtsc();
}
#else
static inline uint64_t shm_clock_ticks(void)
{
    return 0;
}
#endif

static inline uint64_t shm_clock_ns(const struct shm_clock *c)
{
    if (!c->scale)
        return hx_monotonic_ns();
    return c->ns + (uint64_t)((unsigned __int128)(shm_clock_ticks() - c->ticks) * c->scale >> 32);
}

#endif
