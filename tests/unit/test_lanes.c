/* test_lanes.c - words of four 16-bit lanes, against one lane at a time. */
#include "hxmesh/lanes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const uint16_t edges[] = {0, 1, 2, 0x7FFF, 0x8000, 0x8001, 0xFFFE, 0xFFFF};
enum { EDGES = sizeof edges / sizeof *edges };

static uint64_t word(const uint16_t lane[4])
{
    return lane[0] | (uint64_t)lane[1] << 16 | (uint64_t)lane[2] << 32 | (uint64_t)lane[3] << 48;
}

/* Calls `validate` for words of edge values: all pairs in each lane, with other pairs beside them. */
static void for_each_pair(void (*validate)(const uint16_t a[4], const uint16_t b[4]))
{
    for (unsigned i = 0; i < EDGES * EDGES * EDGES; i++) {
        uint16_t a[4], b[4];
        for (unsigned lane = 0; lane < 4; lane++) {
            a[lane] = edges[(i + lane * 3) % EDGES];
            b[lane] = edges[(i / EDGES + i / EDGES / EDGES * lane) % EDGES];
        }
        validate(a, b);
    }
}

static void validate_sum(const uint16_t a[4], const uint16_t b[4])
{
    uint64_t sum = hx_lanes_add(word(a), word(b));
    for (unsigned lane = 0; lane < 4; lane++)
        assert_int_equal(hx_lane(sum, lane), (uint16_t)(a[lane] + b[lane]));
}

static void sums_do_not_carry_into_each_other(void **state)
{
    (void)state;
    for_each_pair(validate_sum);
}

static void validate_difference(const uint16_t a[4], const uint16_t b[4])
{
    uint64_t difference = hx_lanes_sub(word(a), word(b));
    for (unsigned lane = 0; lane < 4; lane++)
        assert_int_equal(hx_lane(difference, lane), (uint16_t)(a[lane] - b[lane]));
}

static void differences_do_not_borrow_from_each_other(void **state)
{
    (void)state;
    for_each_pair(validate_difference);
}

static void validate_what_is_left(const uint16_t a[4], const uint16_t b[4])
{
    uint16_t most[4];
    bool enough = true;
    for (unsigned lane = 0; lane < 4; lane++) {
        most[lane] = a[lane] & 0x7FFF;
        enough = enough && b[lane] <= most[lane];
    }
    uint64_t left;
    assert_int_equal(hx_lanes_left(&left, word(most), word(b)), enough);
    for (unsigned lane = 0; enough && lane < 4; lane++)
        assert_int_equal(hx_lane(left, lane), most[lane] - b[lane]);
}

static void the_rest_is_exact_unless_a_lane_is_short(void **state)
{
    (void)state;
    for_each_pair(validate_what_is_left);
}

static void validate_one_lane(const uint16_t a[4], const uint16_t b[4])
{
    for (unsigned changed = 0; changed < 4; changed++) {
        uint64_t sum = hx_lane_add(word(a), changed, b[changed]);
        uint64_t set = hx_lane_set(word(a), changed, b[changed]);
        for (unsigned lane = 0; lane < 4; lane++) {
            assert_int_equal(hx_lane(sum, lane), (uint16_t)(a[lane] + (lane == changed ? b[lane] : 0)));
            assert_int_equal(hx_lane(set, lane), lane == changed ? b[lane] : a[lane]);
        }
    }
}

static void one_lane_changes_alone(void **state)
{
    (void)state;
    for_each_pair(validate_one_lane);
}

static void a_sum_below_2_to_the_16_is_exact(void **state)
{
    (void)state;
    static const uint16_t cases[][4] = {
        {0, 0, 0, 0}, {1, 2, 3, 4}, {0xFFFF, 0, 0, 0}, {0, 0, 0, 0xFFFF}, {0x3FFF, 0x4000, 0x4000, 0x4000}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned sum = 0;
        for (unsigned lane = 0; lane < 4; lane++)
            sum += cases[i][lane];
        assert_int_equal(hx_lanes_sum(word(cases[i])), sum);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_do_not_carry_into_each_other),
        cmocka_unit_test(differences_do_not_borrow_from_each_other),
        cmocka_unit_test(the_rest_is_exact_unless_a_lane_is_short),
        cmocka_unit_test(one_lane_changes_alone),
        cmocka_unit_test(a_sum_below_2_to_the_16_is_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
