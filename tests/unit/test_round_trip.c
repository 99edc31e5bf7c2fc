/* test_round_trip.c - the round-trip estimate, against closed forms and against one in real numbers. */
#include "hxmesh/round_trip.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { ROUNDING = 8 /* units that the division by 8 may lose */ };

static void assert_near(double is, double should_be, double by)
{
    if (fabs(is - should_be) > by)
        fail_msg("%g is not within %g of %g", is, by, should_be);
}

static void the_first_sample_is_taken_as_it_is(void **state)
{
    (void)state;
    struct hx_round_trip r = {0, 0};
    assert_int_equal(hx_round_trip_timeout(&r), 0);
    hx_round_trip_sample(&r, 1000);
    assert_int_equal(r.smoothed, 1000);
    assert_int_equal(r.variation, 500);
    assert_int_equal(hx_round_trip_timeout(&r), 3000);
    r = (struct hx_round_trip){0, 0};
    hx_round_trip_sample(&r, 0); /* shorter than a unit: still a sample */
    assert_int_equal(hx_round_trip_timeout(&r), 2);
}

/* n samples R after the first: smoothed R, variation R / 2 * (3/4)^n. Then n samples S: smoothed S + (R - S) *
 * (7/8)^n. */
static void closed_forms_are_met(void **state)
{
    (void)state;
    static const unsigned pairs[][2] = {{1000, 4000}, {4000, 1000}, {60000, 200}, {16, 16000}};
    for (unsigned i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        double from = pairs[i][0];
        double to = pairs[i][1];
        struct hx_round_trip r = {0, 0};
        hx_round_trip_sample(&r, pairs[i][0]);
        for (unsigned n = 1; n < 40; n++) {
            hx_round_trip_sample(&r, pairs[i][0]);
            assert_int_equal(r.smoothed, pairs[i][0]);
            assert_near(r.variation, from / 2 * pow(0.75, n), 4);
            assert_true(hx_round_trip_timeout(&r) >= 2U * r.smoothed);
        }
        for (unsigned n = 1; n < 60; n++) {
            hx_round_trip_sample(&r, pairs[i][1]);
            assert_near(r.smoothed, to + (from - to) * pow(0.875, n), ROUNDING);
        }
    }
}

/* After one answer slower than the estimate, the next estimate exceeds it: a second early probe needs an even slower
 * answer. */
static void one_late_answer_raises_the_estimate(void **state)
{
    (void)state;
    for (unsigned usual = 10; usual < 5000; usual = usual * 5 / 4) {
        struct hx_round_trip r = {0, 0};
        for (unsigned n = 0; n < 100; n++)
            hx_round_trip_sample(&r, usual);
        unsigned late = hx_round_trip_timeout(&r) + usual + 4 * ROUNDING;
        hx_round_trip_sample(&r, late);
        assert_true(hx_round_trip_timeout(&r) + ROUNDING >= late);
    }
}

static void any_samples_are_followed(void **state)
{
    (void)state;
    srand(1);
    for (unsigned run = 0; run < 200; run++) {
        struct hx_round_trip r = {0, 0};
        double smoothed = 0;
        double variation = 0;
        int most = 1 << rand() % 16;
        for (unsigned n = 0; n < 300; n++) {
            unsigned sample = 1 + (unsigned)(rand() % most);
            hx_round_trip_sample(&r, sample);
            variation = n ? 0.75 * variation + 0.25 * fabs(smoothed - sample) : sample / 2.0;
            smoothed = n ? 0.875 * smoothed + 0.125 * sample : sample;
            assert_near(r.smoothed, smoothed, 2 * ROUNDING);
            assert_near(r.variation, variation, 3 * ROUNDING);
        }
    }
}

static void the_estimate_does_not_wrap(void **state)
{
    (void)state;
    struct hx_round_trip r = {0, 0};
    for (unsigned n = 0; n < 200; n++) {
        hx_round_trip_sample(&r, n % 3 ? UINT32_MAX : 1);
        assert_true(r.smoothed >= 1);
        assert_true(hx_round_trip_timeout(&r) >= r.smoothed);
    }
    for (unsigned n = 0; n < 200; n++)
        hx_round_trip_sample(&r, UINT32_MAX);
    assert_in_range(r.smoothed, UINT16_MAX - ROUNDING, UINT16_MAX);
    assert_in_range(r.variation, 0, ROUNDING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_sample_is_taken_as_it_is),  cmocka_unit_test(closed_forms_are_met),
        cmocka_unit_test(one_late_answer_raises_the_estimate), cmocka_unit_test(any_samples_are_followed),
        cmocka_unit_test(the_estimate_does_not_wrap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
