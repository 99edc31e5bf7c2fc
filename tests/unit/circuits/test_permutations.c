/* test_permutations.c - strides of rings, their choice with the diameter it gives, and coin change against a search of
 * the graph. */
#include "tests/support/support_circuits.h"
#include "tests/support/support_effort.h"
#include "tests/support/support_seed.h"
#include "tools/circuits/permutations.h"

#include <math.h>
#include <string.h>

enum { MOST = 1024, MOST_CHOSEN = 8, STRIDES = 300, SETS = 300, MOST_STRIDES = 6 };

static uint32_t candidate[MOST], chosen[2 * MOST_CHOSEN], next[MOST], length[MOST];

static void assert_strides(uint32_t k, bool prime, const uint32_t *expected, unsigned count)
{
    assert_int_equal(circuits_strides(k, prime, candidate), count);
    assert_memory_equal(candidate, expected, count * sizeof *expected);
}

static void twelve_members_have_four_strides(void **state)
{
    (void)state;
    assert_strides(12, false, (const uint32_t[]){1, 5, 7, 11}, 4);
    assert_strides(12, true, (const uint32_t[]){1, 5, 7, 11}, 4);
    assert_strides(16, false, (const uint32_t[]){1, 3, 5, 7, 9, 11, 13, 15}, 8);
    assert_strides(16, true, (const uint32_t[]){1, 3, 5, 7, 11, 13}, 6);
    assert_strides(2, false, (const uint32_t[]){1}, 1);
    assert_strides(1, false, NULL, 0);
}

static bool is_ring(uint32_t k, uint32_t stride)
{
    uint32_t steps = 1;
    for (uint32_t at = stride % k; at != 0; at = (at + stride) % k)
        steps++;
    return steps == k;
}

static bool has_a_divisor(uint32_t p)
{
    for (uint32_t divisor = 2; divisor < p; divisor++)
        if (p % divisor == 0)
            return true;
    return false;
}

/* Every stride that visits all members, and no other. */
static void strides_are_those_of_rings(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < effort(STRIDES); i++) {
        const uint32_t k = effort_case(i, STRIDES) + 2;
        for (unsigned prime = 0; prime < 2; prime++) {
            const unsigned count = circuits_strides(k, prime, candidate);
            unsigned at = 0;
            for (uint32_t p = 1; p < k; p++)
                if (is_ring(k, p) && !(prime && has_a_divisor(p)))
                    assert_int_equal(at < count ? candidate[at++] : 0, p);
            assert_int_equal(at, count);
        }
    }
}

static void assert_chosen(uint32_t k, unsigned d, const uint32_t *expected, unsigned count)
{
    assert_int_equal(circuits_select(k, candidate, circuits_strides(k, false, candidate), d, chosen), count);
    assert_memory_equal(chosen, expected, count * sizeof *expected);
}

static void strides_grow_by_a_root(void **state)
{
    (void)state;
    assert_chosen(128, 1, (const uint32_t[]){1}, 1);
    assert_chosen(128, 2, (const uint32_t[]){1, 11}, 2);
    assert_chosen(128, 4, (const uint32_t[]){1, 3, 11, 37}, 4);
    assert_chosen(12, 2, (const uint32_t[]){1, 5}, 2);
    assert_chosen(12, 8, (const uint32_t[]){1, 5, 11}, 3); /* 2, 10 and 22 are wanted */
    assert_chosen(2, 4, (const uint32_t[]){1}, 1);
    assert_int_equal(circuits_select(7, NULL, 0, 3, chosen), 0);
}

/* Of all strides above the last, none is nearer to x times the last. */
static void assert_nearest(uint32_t k, unsigned d, unsigned candidates, unsigned count)
{
    const double x = fmax(2, pow(k, 1.0 / d));
    assert_int_equal(chosen[0], candidate[0]);
    for (unsigned i = 1; i < count; i++) {
        assert_true(chosen[i] > chosen[i - 1]);
        for (unsigned at = 0; at < candidates; at++)
            if (candidate[at] > chosen[i - 1] &&
                fabs(candidate[at] - x * chosen[i - 1]) < fabs(chosen[i] - x * chosen[i - 1]))
                fail_msg("k %u, d %u: %u is nearer than %u", k, d, candidate[at], chosen[i]);
    }
    assert_true(count == d || chosen[count - 1] == candidate[candidates - 1]);
}

static void assert_diameter(uint32_t k, unsigned strides, double most)
{
    circuits_coin_change(k, chosen, strides, next, length);
    for (uint32_t distance = 0; distance < k; distance++)
        if (length[distance] > most)
            fail_msg("k %u, %u strides: %u steps, more than %.1f", k, strides, length[distance], most);
}

/* The diameter of d strides is at most c d k^(1/d). One way c is 1, or 1.1 if strides are primes. Of d duplex rings,
 * with strides up to k / 2, it is 2/3. */
static void the_diameter_is_within_its_order(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < effort(MOST - 2); i++) {
        const uint32_t k = effort_case(i, MOST - 2) + 3;
        for (unsigned d = 1; d <= MOST_CHOSEN; d++) {
            const double order = d * pow(k, 1.0 / d);
            for (unsigned prime = 0; prime < 2; prime++) {
                unsigned candidates = circuits_strides(k, prime, candidate);
                unsigned count = circuits_select(k, candidate, candidates, d, chosen);
                assert_nearest(k, d, candidates, count);
                assert_diameter(k, count, prime ? 1.1 * order : order);
                while (candidate[candidates - 1] > k / 2)
                    candidates--;
                count = circuits_select(k, candidate, candidates, d, chosen);
                for (unsigned ring = 0; ring < count; ring++)
                    chosen[count + ring] = k - chosen[ring];
                assert_diameter(k, 2 * count, order * 2 / 3);
            }
        }
    }
}

/* Steps from member `from` to all others, by relaxing every edge of the graph until nothing changes. */
static void relax(uint32_t k, const uint32_t *stride, unsigned strides, uint32_t from, uint32_t *steps)
{
    for (uint32_t member = 0; member < k; member++)
        steps[member] = member == from ? 0 : UINT32_MAX;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t member = 0; member < k; member++) {
            for (unsigned s = 0; s < strides && steps[member] != UINT32_MAX; s++) {
                uint32_t *far = &steps[(member + stride[s]) % k];
                changed = changed || *far > steps[member] + 1;
                *far = *far > steps[member] + 1 ? steps[member] + 1 : *far;
            }
        }
    }
}

/* The steps that next[] gives lead there, and are as many as length[] says. */
static void assert_leads(uint32_t k, const uint32_t *stride, unsigned strides, uint32_t distance)
{
    uint32_t left = distance, steps = 0;
    while (left) {
        unsigned s = 0;
        while (s < strides && stride[s] != next[left])
            s++;
        assert_true(s < strides);
        assert_true(steps++ < k);
        left = (left + k - stride[s]) % k;
    }
    assert_int_equal(steps, length[distance]);
}

static void coin_change_is_shortest(void **state)
{
    (void)state;
    seeded_run = seeded_by(1);
    for (uint32_t i = 0; i < effort(SETS); i++, seeded_run++) {
        uint64_t random = seeded_run;
        uint32_t stride[MOST_STRIDES] = {0}, steps[MOST];
        const uint32_t k = seeded_below(&random, i % 10 ? 60 : MOST - 1) + 2;
        const unsigned strides = seeded_below(&random, MOST_STRIDES) + 1;
        for (unsigned s = 0; s < strides; s++)
            stride[s] = seeded_below(&random, k - 1) + 1;
        const uint32_t from = seeded_below(&random, k);
        relax(k, stride, strides, from, steps);
        circuits_coin_change(k, stride, strides, next, length);
        for (uint32_t distance = 0; distance < k; distance++) {
            assert_int_equal(length[distance], steps[(from + distance) % k]);
            if (length[distance] != UINT32_MAX)
                assert_leads(k, stride, strides, distance);
        }
    }
    seeded_run = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(twelve_members_have_four_strides),
        cmocka_unit_test(strides_are_those_of_rings),
        cmocka_unit_test(strides_grow_by_a_root),
        cmocka_unit_test(the_diameter_is_within_its_order),
        cmocka_unit_test_teardown(coin_change_is_shortest, seeded_report),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
