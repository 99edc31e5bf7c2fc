/* test_collective_report.c - shares and bandwidths of collectives. */
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
        struct collective_job job = {.config = {.size = 6, .bytes = 1200, .kind = (uint8_t)cases[i].kind}};
        assert_true(fabs(collective_share(&job, 1200 * cases[i].sent) - 1) < 1e-12);
        assert_true(fabs(collective_vector_share(&job, 1200 * cases[i].sent) - cases[i].vector_share) < 1e-12);
    }
    struct collective_job two = {.config = {.size = 2, .bytes = 1200, .kind = HX_ALL_REDUCE}};
    assert_true(fabs(collective_share(&two, 1200) - 1) < 1e-12);
    assert_true(collective_share(&two, 0) == 0);
}

/* The factors of nccl-tests, doc/PERFORMANCE.md, and of its gather and scatter. */
static void bus_factors_are_those_of_nccl_tests(void **state)
{
    (void)state;
    static const struct {
        enum hx_collective_kind kind;
        double one, two, five, million; /* by ranks */
    } cases[] = {{HX_BROADCAST, 1, 1, 1, 1},
                 {HX_REDUCE, 1, 1, 1, 1},
                 {HX_REDUCE_SCATTER, 0, 0.5, 0.8, 0.999999},
                 {HX_ALL_GATHER, 0, 0.5, 0.8, 0.999999},
                 {HX_ALL_REDUCE, 0, 1, 1.6, 1.999998},
                 {HX_GATHER, 0, 0.5, 0.8, 0.999999},
                 {HX_SCATTER, 0, 0.5, 0.8, 0.999999},
                 {HX_COLLECTIVE_ALL_TO_ALL, 0, 0.5, 0.8, 0.999999},
                 {HX_BARRIER, 0, 0, 0, 0}};
    assert_int_equal(sizeof cases / sizeof *cases, HX_COLLECTIVE_KINDS);
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(fabs(collective_bus_factor(cases[i].kind, 1) - cases[i].one) < 1e-15);
        assert_true(fabs(collective_bus_factor(cases[i].kind, 2) - cases[i].two) < 1e-15);
        assert_true(fabs(collective_bus_factor(cases[i].kind, 5) - cases[i].five) < 1e-15);
        assert_true(fabs(collective_bus_factor(cases[i].kind, 1e6) - cases[i].million) < 1e-12);
    }
}

/* 40 ranks and 10^9 bytes in 0.5 s: 16 Gb/s, times 78/40 on the bus. */
static void bandwidths_are_size_over_time(void **state)
{
    (void)state;
    const struct collective_job job = {.config = {.size = 40, .bytes = 1000000000, .kind = HX_ALL_REDUCE}};
    assert_true(fabs(collective_algorithm_gbps(&job, 0.5) - 16) < 1e-12);
    assert_true(fabs(collective_bus_gbps(&job, 0.5) - 31.2) < 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_possible_traffic_has_a_share_of_one),
        cmocka_unit_test(bus_factors_are_those_of_nccl_tests),
        cmocka_unit_test(bandwidths_are_size_over_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
