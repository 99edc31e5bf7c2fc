/* test_collective_report.c - a collective's share of the best possible time is at most 1. */
#include "fabric-emu/report/collective_report.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Each of p ranks has to send (p - 1)/p of the vector, in an all-reduce twice that; a broadcast sends all of it at
 * most. */
static void the_least_possible_traffic_has_a_share_of_one(void **state)
{
    (void)state;
    static const struct {
        enum hx_collective_kind kind;
        double sent, vector_share;
    } cases[] = {{HX_ALL_REDUCE, 2 * 5.0 / 6, 6.0 / 5},
                 {HX_REDUCE_SCATTER, 5.0 / 6, 6.0 / 5},
                 {HX_ALL_GATHER, 5.0 / 6, 6.0 / 5},
                 {HX_BROADCAST, 1, 1}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct collective_job job = {.columns = 3, .rows = 2, .bytes = 1200, .kind = (uint8_t)cases[i].kind};
        assert_true(fabs(collective_share(&job, 1200 * cases[i].sent) - 1) < 1e-12);
        assert_true(fabs(collective_vector_share(&job, 1200 * cases[i].sent) - cases[i].vector_share) < 1e-12);
    }
    struct collective_job two = {.columns = 2, .rows = 1, .bytes = 1200, .kind = HX_ALL_REDUCE};
    assert_true(fabs(collective_share(&two, 1200) - 1) < 1e-12);
    assert_true(collective_share(&two, 0) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_possible_traffic_has_a_share_of_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
