/* prop_bandwidth.c - SmartBW's closed form is the minimum of the time that it stands for, and no division that the
 * search returns is behind it: for seeded bytes of model- and data-parallel communication. */
#include "tests/support/support_effort.h"
#include "tests/support/support_seed.h"
#include "tools/bandwidth/allocate.h"
#include "tools/bandwidth/search.h"

#include <math.h>
#include <string.h>

enum { SHARED = 2000, ANY = 2000, SEARCHES = 200 };

static double draw(uint64_t *random)
{
    return (seeded_below(random, 1000000) + 1) / 1e6;
}

/* 1e-4 .. 1e4 */
static double draw_wide(uint64_t *random)
{
    return pow(10, 8 * draw(random) - 4);
}

/* Seconds of bytes[] by their slowest dimension. */
static double longest(const double *bytes, const double *rate, unsigned dimensions)
{
    double seconds = 0;
    for (unsigned d = 0; d < dimensions; d++)
        seconds = bytes[d] > 0 ? fmax(seconds, bytes[d] / rate[d]) : seconds;
    return seconds;
}

static double time_of(const struct bandwidth_load *l, const double *rate)
{
    return longest(l->model, rate, l->dimensions) + longest(l->data, rate, l->dimensions);
}

static void assert_spent(const struct bandwidth_load *l, const double *rate, double budget)
{
    double all = 0;
    for (unsigned d = 0; d < l->dimensions; d++)
        all += rate[d];
    if (!(fabs(all - budget) < 1e-9 * budget))
        fail_msg("%.12g of %.12g are spent", all, budget);
}

/* The least M / x + D / y with (1 - p) x + (1 - q) y + max(p x, q y) = B, by thirds over the angle of (x, y). */
static double least_by_thirds(double m, double d, double p, double q, double budget)
{
    double low = -30, high = 30; /* log (y / x) */
    for (unsigned i = 0; i < 200; i++) {
        const double at[2] = {low + (high - low) / 3, high - (high - low) / 3};
        double time[2];
        for (unsigned k = 0; k < 2; k++) {
            const double t = exp(at[k]);
            const double x = budget / ((1 - p) + (1 - q) * t + fmax(p, q * t));
            time[k] = m / x + d / (t * x);
        }
        if (time[0] < time[1])
            high = at[1];
        else
            low = at[0];
    }
    const double t = exp((low + high) / 2);
    return (m + d / t) * ((1 - p) + (1 - q) * t + fmax(p, q * t)) / budget;
}

/* One shared dimension between one of the model's and one of the data's; p and q are 0 .. 1, ends included. */
static void one_shared_dimension_has_the_numeric_minimum(void **state)
{
    (void)state;
    unsigned cases[4] = {0}; /* the shared dimension is the slowest of: the model's 1, the data's 2, both 3 */
    for (seeded_run = seeded_by(1); seeded_run < seeded_by(1) + effort(SHARED); seeded_run++) {
        uint64_t random = seeded_run;
        const double m = draw_wide(&random), d = draw_wide(&random), budget = draw_wide(&random);
        const double p = seeded_below(&random, 8) ? draw(&random) : 1, q = seeded_below(&random, 8) ? draw(&random) : 1;
        const struct bandwidth_load l = {3, {m * (1 - p), m * p, 0}, {0, d * q, d * (1 - q)}};
        double rate[BANDWIDTH_DIMENSIONS];
        bandwidth_smart(&l, budget, rate);
        assert_spent(&l, rate, budget);
        const double least = least_by_thirds(m, d, p, q, budget), is = time_of(&l, rate);
        if (!(is <= least * (1 + 1e-7)) || !(is >= least * (1 - 1e-7)))
            fail_msg("M %g, D %g, p %g, q %g: %.12g, but the minimum is %.12g", m, d, p, q, is, least);
        const bool slow_model = l.model[1] / rate[1] > longest(l.model, rate, 3) * (1 - 1e-9);
        const bool slow_data = l.data[1] / rate[1] > longest(l.data, rate, 3) * (1 - 1e-9);
        assert_true(slow_model || slow_data);
        cases[slow_model + 2 * slow_data]++;
    }
    seeded_run = 0;
    assert_true(cases[1] > 0 && cases[2] > 0 && cases[3] > 0);
}

/* Any dimensions may be shared: no neighbour is better, which is enough in a convex problem. */
static void no_other_division_is_faster(void **state)
{
    (void)state;
    for (seeded_run = seeded_by(1); seeded_run < seeded_by(1) + effort(ANY); seeded_run++) {
        uint64_t random = seeded_run;
        struct bandwidth_load l = {.dimensions = 1 + seeded_below(&random, BANDWIDTH_DIMENSIONS)};
        double rate[BANDWIDTH_DIMENSIONS], other[BANDWIDTH_DIMENSIONS];
        for (unsigned d = 0; d < l.dimensions; d++) {
            l.model[d] = seeded_below(&random, 3) ? draw_wide(&random) : 0;
            l.data[d] = seeded_below(&random, 3) || l.model[d] <= 0 ? draw_wide(&random) : 0;
        }
        bandwidth_smart(&l, 100, rate);
        assert_spent(&l, rate, 100);
        bandwidth_message(&l, 100, other);
        assert_true(time_of(&l, rate) <= time_of(&l, other) * (1 + 1e-9));
        for (unsigned i = 0; i < 20; i++) {
            double all = 0;
            for (unsigned d = 0; d < l.dimensions; d++) {
                other[d] = rate[d] * (1 + (draw(&random) - 0.5) * (i % 2 ? 1 : 1e-3));
                all += other[d];
            }
            for (unsigned d = 0; d < l.dimensions; d++)
                other[d] *= 100 / all;
            assert_true(time_of(&l, rate) <= time_of(&l, other) * (1 + 1e-9));
        }
    }
    seeded_run = 0;
}

static double time_for_search(void *of, const double *rate)
{
    return time_of(of, rate);
}

/* Where the closed form is the minimum, the search from equal rates comes to it and not below. */
static void the_search_comes_to_the_closed_form(void **state)
{
    (void)state;
    for (seeded_run = seeded_by(1); seeded_run < seeded_by(1) + effort(SEARCHES); seeded_run++) {
        uint64_t random = seeded_run;
        struct bandwidth_load l = {.dimensions = 2 + seeded_below(&random, 3)};
        double rate[BANDWIDTH_DIMENSIONS], found[BANDWIDTH_DIMENSIONS];
        for (unsigned d = 0; d < l.dimensions; d++) {
            l.model[d] = d + 1 < l.dimensions ? draw(&random) : 0;
            l.data[d] = d > 0 ? draw(&random) : 0;
        }
        bandwidth_smart(&l, 100, rate);
        bandwidth_equal(&l, 100, found);
        const double best = bandwidth_search(l.dimensions, found, time_for_search, &l, 0, 2, 1.00001);
        assert_true(best >= time_of(&l, rate) * (1 - 1e-9));
        assert_true(best <= time_of(&l, rate) * (1 + 2e-3));
        assert_spent(&l, found, 100);
    }
    seeded_run = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(one_shared_dimension_has_the_numeric_minimum, seeded_report),
        cmocka_unit_test_teardown(no_other_division_is_faster, seeded_report),
        cmocka_unit_test_teardown(the_search_comes_to_the_closed_form, seeded_report),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
