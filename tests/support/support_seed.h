/* support_seed.h - the seed of a run, which a failed test names. cmocka leaves such a test at its assertion, so that
 * the seed stands here when it is torn down.
 *
 *     for (seeded_run = seeded_by(1); ...; seeded_run++) { ... }
 *     seeded_run = 0;                                          with cmocka_unit_test_teardown(test, seeded_report) */
#ifndef HXMESH_TESTS_SUPPORT_SEED_H
#define HXMESH_TESTS_SUPPORT_SEED_H

#include "tests/support/support_random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static uint64_t seeded_run; /* 0: none */

static inline int seeded_report(void **state)
{
    (void)state;
    if (seeded_run)
        print_message("failed; HX_SEED=%llu begins with this run\n", (unsigned long long)seeded_run);
    seeded_run = 0;
    return 0;
}

#endif
