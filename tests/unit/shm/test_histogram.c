/* test_histogram.c - latencies in bins 3 % wide, against the sorted values. */
#include "base/histogram.h"
#include "tests/support/support_random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct fab_histogram h, other; /* large for a stack */

static void every_value_has_its_bin(void **state)
{
    (void)state;
    unsigned last = 0;
    for (uint64_t value = 0; value < (uint64_t)1 << 43; value += 1 + value / 100) {
        unsigned bin = fab_histogram_bin(value);
        assert_true(bin >= last && bin <= last + 1);
        assert_true(fab_histogram_value(bin) <= value);
        assert_true(value - fab_histogram_value(bin) <= value / FAB_HISTOGRAM_STEPS);
        assert_int_equal(fab_histogram_bin(fab_histogram_value(bin)), bin);
        last = bin;
    }
    for (uint64_t value = 0; value < 64; value++)
        assert_true(fab_histogram_value(fab_histogram_bin(value)) == value);
}

static void too_large_values_are_in_the_last_bin(void **state)
{
    (void)state;
    assert_int_equal(fab_histogram_bin(UINT64_MAX), FAB_HISTOGRAM_BINS - 1);
    assert_int_equal(fab_histogram_bin((uint64_t)1 << 45), FAB_HISTOGRAM_BINS - 1);
    memset(&h, 0, sizeof h);
    fab_histogram_add(&h, UINT64_MAX);
    assert_true(h.most == UINT64_MAX);
}

static int by_value(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a;
    uint64_t right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

static void quantiles_are_those_of_the_values(void **state)
{
    (void)state;
    enum { VALUES = 10000 };
    static uint64_t value[VALUES];
    uint64_t seed = 12345;
    uint64_t sum = 0;
    memset(&h, 0, sizeof h);
    assert_true(fab_histogram_mean(&h) == 0);
    for (unsigned i = 0; i < VALUES; i++) {
        uint64_t random = seeded_next(&seed);
        value[i] = random >> (24 + random % 40); /* of all magnitudes */
        fab_histogram_add(&h, value[i]);
        sum += value[i];
    }
    assert_true(fab_histogram_mean(&h) == (sum + VALUES / 2) / VALUES);
    qsort(value, VALUES, sizeof *value, by_value);
    static const double shares[] = {0.0001, 0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 1};
    for (unsigned i = 0; i < sizeof shares / sizeof *shares; i++) {
        uint64_t exact = value[(size_t)(shares[i] * VALUES + 0.5) - 1];
        uint64_t found = fab_histogram_quantile(&h, shares[i]);
        assert_true(found <= exact && exact - found <= exact / FAB_HISTOGRAM_STEPS);
    }
    assert_true(h.most == value[VALUES - 1]);
}

static void an_empty_histogram_has_no_quantile(void **state)
{
    (void)state;
    memset(&h, 0, sizeof h);
    assert_true(fab_histogram_quantile(&h, 0.5) == 0);
    fab_histogram_add(&h, 777);
    assert_true(fab_histogram_quantile(&h, 0.001) == fab_histogram_quantile(&h, 1));
}

static void a_merge_equals_one_histogram(void **state)
{
    (void)state;
    static struct fab_histogram both;
    memset(&h, 0, sizeof h);
    memset(&other, 0, sizeof other);
    memset(&both, 0, sizeof both);
    for (uint64_t i = 1; i < 3000; i++) {
        fab_histogram_add(i % 3 ? &h : &other, i * i);
        fab_histogram_add(&both, i * i);
    }
    fab_histogram_merge(&h, &other);
    assert_memory_equal(&h, &both, sizeof both);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_value_has_its_bin),           cmocka_unit_test(too_large_values_are_in_the_last_bin),
        cmocka_unit_test(quantiles_are_those_of_the_values), cmocka_unit_test(an_empty_histogram_has_no_quantile),
        cmocka_unit_test(a_merge_equals_one_histogram),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
