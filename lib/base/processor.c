/* processor.c - asks the kernel for cores and times (processor.h). */
#include "base/processor.h"

#include <sched.h>
#include <time.h>
#include <unistd.h>

unsigned hx_processor_cores(void)
{
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    int n = sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 0;
    return n < 1 ? 1 : (unsigned)n;
}

size_t hx_processor_cache(void)
{
    long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return bytes > 0 ? (size_t)bytes : (size_t)2 << 20;
}

uint64_t hx_processor_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

/* Pins this process to the n-th core it may run on. */
static void keep_on(unsigned nth)
{
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return;
    unsigned core = 0;
    for (unsigned n = 0; core < CPU_SETSIZE; core++) {
        if (CPU_ISSET(core, &allowed) && n++ == nth)
            break;
    }
    cpu_set_t own;
    CPU_ZERO(&own);
    CPU_SET(core, &own);
    (void)sched_setaffinity(0, sizeof own, &own);
}

bool hx_processor_keep(unsigned self, unsigned workers)
{
    unsigned cores = hx_processor_cores();
    if (workers > cores)
        keep_on(self * cores / workers);
    else if (workers > 1)
        keep_on(self);
    return workers <= cores;
}
