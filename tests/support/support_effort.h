/* support_effort.h - how many of its cases a test tries: all alone and in `make check-all`, fewer in `make check`
 * (HX_WHICH=quick), a tenth under a sanitizer, which checks memory rather than results. */
#ifndef HXMESH_TESTS_SUPPORT_EFFORT_H
#define HXMESH_TESTS_SUPPORT_EFFORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { EFFORT_SHARE = 10, EFFORT_QUICK_SHARE = 20, EFFORT_FEW_SHARE = 4 };
#else
enum { EFFORT_SHARE = 1, EFFORT_QUICK_SHARE = 4, EFFORT_FEW_SHARE = 1 };
#endif

static inline bool effort_is_quick(void)
{
    const char *which = getenv("HX_WHICH");
    return which && strcmp(which, "quick") == 0;
}

/* Number of cases to try, 1 .. full. */
static inline uint32_t effort(uint32_t full)
{
    const uint32_t share = effort_is_quick() ? EFFORT_QUICK_SHARE : EFFORT_SHARE;
    return full > share ? full / share : 1;
}

/* The same for cases that are all tried under sanitizers too: `few` in `make check`, a quarter of these under a
 * sanitizer there, at least 1; else full. */
static inline uint32_t effort_few(uint32_t few, uint32_t full)
{
    if (!effort_is_quick())
        return full;
    return few > EFFORT_FEW_SHARE ? few / EFFORT_FEW_SHARE : 1;
}

/* The n-th of `full` cases, in an order that spreads any few successive ones. full < 7919 */
static inline uint32_t effort_case(uint32_t n, uint32_t full)
{
    return (uint32_t)((uint64_t)n * 7919 % full); /* a prime, so each case occurs once */
}

#endif
