/* test_subsets.c - sets of numbers: each once, or drawn ones that differ, all equally likely. */
#include "base/subsets.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { OF = 6, MOST_OF = 1 << OF };

/* Counts how often each set comes, by the bits of its members. Returns the number of sets. */
static uint64_t count_sets(uint32_t of, uint32_t size, uint64_t most, uint64_t seed, unsigned times[MOST_OF])
{
    uint64_t count = 0;
    struct hx_subsets s = hx_subsets_open(of, size, most, seed);
    while (hx_subsets_next(&s)) {
        unsigned bits = 0;
        for (uint32_t i = 0; i < size; i++) {
            assert_true(s.member[i] < of && (i == 0 || s.member[i] > s.member[i - 1]));
            bits |= 1U << s.member[i];
        }
        times[bits]++;
        count++;
    }
    assert_int_equal(count, s.count);
    hx_subsets_close(&s);
    return count;
}

static void every_set_comes_once(void **state)
{
    (void)state;
    for (uint32_t size = 1; size <= OF; size++) {
        unsigned times[MOST_OF] = {0};
        uint64_t of_size = 0;
        (void)count_sets(OF, size, 100, 1, times);
        for (unsigned bits = 0; bits < MOST_OF; bits++) {
            const bool wanted = (uint32_t)__builtin_popcount(bits) == size;
            assert_int_equal(times[bits], wanted);
            of_size += wanted;
        }
        assert_int_equal(hx_subsets_number(OF, size), of_size);
    }
}

static void drawn_sets_differ_and_are_equally_likely(void **state)
{
    (void)state;
    enum { DRAWN = 19, SEEDS = 4000, SETS = 20 /* 3 of 6 */ };
    unsigned times[MOST_OF] = {0};
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        unsigned once[MOST_OF] = {0};
        assert_int_equal(count_sets(OF, 3, DRAWN, seed, once), DRAWN);
        for (unsigned bits = 0; bits < MOST_OF; bits++) {
            assert_true(once[bits] <= 1);
            times[bits] += once[bits];
        }
    }
    /* Each set is missing in one of 20: 200 times, with a deviation of 14. */
    for (unsigned bits = 0; bits < MOST_OF; bits++)
        if (__builtin_popcount(bits) == 3)
            assert_in_range(times[bits], SEEDS * DRAWN / SETS - 70, SEEDS * DRAWN / SETS + 70);
}

static void a_larger_sample_begins_with_a_smaller_one(void **state)
{
    (void)state;
    struct hx_subsets few = hx_subsets_open(1000, 4, 10, 7);
    struct hx_subsets many = hx_subsets_open(1000, 4, 500, 7);
    assert_true(!few.all && !many.all);
    while (hx_subsets_next(&few)) {
        assert_true(hx_subsets_next(&many));
        assert_memory_equal(few.member, many.member, 4 * sizeof *few.member);
    }
    hx_subsets_close(&few);
    hx_subsets_close(&many);
}

static void numbers_of_sets(void **state)
{
    (void)state;
    assert_int_equal(hx_subsets_number(192, 2), 18336);
    assert_int_equal(hx_subsets_number(64, 32), UINT64_C(1832624140942590534));
    assert_true(hx_subsets_number(3072, 8) == UINT64_MAX && hx_subsets_number(3072, 3070) == 4717056);
    assert_int_equal(hx_subsets_number(5, 5), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_set_comes_once),
        cmocka_unit_test(drawn_sets_differ_and_are_equally_likely),
        cmocka_unit_test(a_larger_sample_begins_with_a_smaller_one),
        cmocka_unit_test(numbers_of_sets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
