/* test_placement.c - placement of jobs: by hand, and against all sets of rows; every result is a sub-HammingMesh of
 * free boards. */
#include "allocation/locality.h"
#include "allocation/placement.h"
#include "tests/support/support_random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct hx_placement_rules greedy = {.aspect = 1};

/* Boards of a map: '.' is free. */
static void draw(struct hx_boards *b, unsigned columns, unsigned rows, const char *map)
{
    hx_boards_make(b, columns, rows);
    assert_int_equal(strlen(map), columns * rows);
    for (unsigned board = 0; board < columns * rows; board++)
        if (map[board] != '.')
            hx_board_take(b, board % columns, board / columns);
}

static void draw_random(struct hx_boards *b, unsigned columns, unsigned rows, unsigned taken, uint64_t *random)
{
    hx_boards_make(b, columns, rows);
    for (unsigned board = 0; board < columns * rows; board++)
        if (seeded_below(random, 100) < taken)
            hx_board_take(b, board % columns, board / columns);
}

static void assert_at(const uint32_t *at, unsigned count, const char *expected)
{
    char text[256] = "";
    for (unsigned i = 0, used = 0; i < count; i++)
        used += (unsigned)snprintf(text + used, sizeof text - used, "%s%u", i ? " " : "", at[i]);
    assert_string_equal(text, expected);
}

static void the_greedy_rule(void **state)
{
    (void)state;
    struct hx_boards b;
    struct hx_placement p;
    draw(&b, 4, 4,
         "#..#"
         "#..."
         "...#"
         "...#");
    assert_true(hx_place(&p, &b, (struct hx_shape){.rows = 3, .columns = 2}, &greedy));
    assert_at(p.row, 3, "0 1 2");
    assert_at(p.column, 2, "1 2");
    hx_placement_free(&p);
    /* Row 0 has fewer than three, row 1 has columns 1 to 3, which no other row shares: the rule does not restart at
     * row 2. */
    assert_false(hx_place(&p, &b, (struct hx_shape){.rows = 2, .columns = 3}, &greedy));
    struct hx_placement_rules searching = greedy;
    searching.search = 100;
    assert_true(hx_place(&p, &b, (struct hx_shape){.rows = 2, .columns = 3}, &searching));
    assert_at(p.row, 2, "2 3");
    assert_at(p.column, 3, "0 1 2");
    hx_placement_free(&p);
    hx_boards_free(&b);
}

static void other_shapes(void **state)
{
    (void)state;
    struct hx_boards b;
    struct hx_placement p;
    struct hx_placement_rules rules = greedy;
    draw(&b, 6, 2,
         "......"
         "######");
    assert_false(hx_place(&p, &b, (struct hx_shape){.rows = 6, .columns = 1}, &rules));
    rules.transpose = true;
    assert_true(hx_place(&p, &b, (struct hx_shape){.rows = 6, .columns = 1}, &rules));
    assert_at(p.column, 6, "0 1 2 3 4 5");
    hx_placement_free(&p);
    assert_false(hx_place(&p, &b, (struct hx_shape){.rows = 3, .columns = 2}, &rules));
    rules.aspect = 5;
    assert_false(hx_place(&p, &b, (struct hx_shape){.rows = 3, .columns = 2}, &rules));
    rules.aspect = 6;
    assert_true(hx_place(&p, &b, (struct hx_shape){.rows = 3, .columns = 2}, &rules));
    assert_int_equal(p.shape.columns, 6);
    hx_placement_free(&p);
    hx_boards_free(&b);
}

static void assert_shapes(struct hx_shape asked, bool transpose, unsigned aspect, const char *expected)
{
    struct hx_shape shapes[HX_MOST_SHAPES];
    const struct hx_placement_rules rules = {.transpose = transpose, .aspect = aspect};
    char text[256] = "";
    unsigned count = hx_shapes(shapes, asked, &rules);
    for (unsigned i = 0, used = 0; i < count; i++)
        used += (unsigned)snprintf(text + used, sizeof text - used, "%s%ux%u", i ? " " : "", shapes[i].columns,
                                   shapes[i].rows);
    assert_string_equal(text, expected);
}

static void shapes_of_a_job(void **state)
{
    (void)state;
    static const struct {
        unsigned boards, columns, rows;
    } square[] = {{1, 1, 1}, {2, 1, 2}, {12, 3, 4}, {13, 1, 13}, {16, 4, 4}, {36, 6, 6}, {1200, 30, 40}};
    for (unsigned i = 0; i < sizeof square / sizeof *square; i++) {
        struct hx_shape s = hx_shape_of(square[i].boards);
        assert_int_equal(s.columns, square[i].columns);
        assert_int_equal(s.rows, square[i].rows);
    }
    const struct hx_shape asked = {.rows = 4, .columns = 3};
    assert_shapes(asked, false, 1, "3x4");
    assert_shapes(asked, true, 1, "3x4 4x3");
    assert_shapes(asked, true, 3, "3x4 4x3 2x6 6x2");
    assert_shapes(asked, true, 12, "3x4 4x3 2x6 6x2 1x12 12x1");
    assert_shapes((struct hx_shape){.rows = 1, .columns = 12}, false, 2, "12x1 3x4 4x3");
}

/* ---- against all sets of rows ---- */

static bool exists(const struct hx_boards *b, struct hx_shape shape)
{
    for (unsigned set = 1; set < 1U << b->rows; set++) {
        if ((unsigned)__builtin_popcount(set) != shape.rows)
            continue;
        unsigned shared = 0;
        for (unsigned column = 0; column < b->columns; column++) {
            bool all = true;
            for (unsigned row = 0; row < b->rows; row++)
                all = all && (!(set >> row & 1) || hx_board_is_free(b, column, row));
            shared += all;
        }
        if (shared >= shape.columns)
            return true;
    }
    return false;
}

static void assert_good(const struct hx_placement *p, const struct hx_boards *b, struct hx_shape asked,
                        const struct hx_placement_rules *rules)
{
    unsigned rows = p->shape.rows, columns = p->shape.columns;
    unsigned most = rows > columns ? rows : columns, least = rows > columns ? columns : rows;
    assert_int_equal(rows * columns, asked.rows * asked.columns);
    assert_true((rows == asked.rows && columns == asked.columns) ||
                (rules->transpose && rows == asked.columns && columns == asked.rows) || most <= least * rules->aspect);
    for (unsigned r = 0; r < rows; r++) {
        assert_true(p->row[r] < b->rows && (r == 0 || p->row[r] > p->row[r - 1]));
        for (unsigned c = 0; c < columns; c++) {
            assert_true(p->column[c] < b->columns && (c == 0 || p->column[c] > p->column[c - 1]));
            assert_true(hx_board_is_free(b, p->column[c], p->row[r]));
        }
    }
}

static void a_search_finds_every_placement(void **state)
{
    (void)state;
    uint64_t random = seeded_by(16);
    const struct hx_placement_rules searching = {.aspect = 1, .search = UINT32_MAX};
    unsigned found_by_greedy = 0, found = 0;
    for (unsigned n = 0; n < 3000; n++) {
        struct hx_boards b;
        struct hx_placement p;
        draw_random(&b, 1 + seeded_below(&random, 9), 1 + seeded_below(&random, 9), seeded_below(&random, 90), &random);
        struct hx_shape shape = {1 + seeded_below(&random, b.rows), 1 + seeded_below(&random, b.columns)};
        bool expected = exists(&b, shape);
        bool is = hx_place(&p, &b, shape, &searching);
        if (is != expected)
            fail_msg("%ux%u on %ux%u, n %u: %s", shape.columns, shape.rows, b.columns, b.rows, n,
                     expected ? "not found" : "found what is not there");
        if (is)
            assert_good(&p, &b, shape, &searching);
        hx_placement_free(&p);
        bool greedily = hx_place(&p, &b, shape, &greedy);
        assert_true(is || !greedily);
        hx_placement_free(&p);
        found += is;
        found_by_greedy += greedily;
        hx_boards_free(&b);
    }
    assert_true(found > 500 && found_by_greedy < found);
}

/* ---- locality ---- */

/* Sends between two members of a ring: one for each side on which they are adjacent. */
static unsigned ring_sends(unsigned from, unsigned to, unsigned count)
{
    unsigned sends = 0;
    if (from != to) {
        sends += (from + 1) % count == to;
        sends += (to + 1) % count == from;
    }
    return sends;
}

/* Every send of every board, one by one. */
static double upper_share_by_hand(const struct hx_placement *p, unsigned locality, const unsigned leaf[2])
{
    double low = 0, high = 0;
    unsigned rows = p->shape.rows, columns = p->shape.columns, boards = rows * columns;
    for (unsigned from = 0; from < boards; from++) {
        for (unsigned to = 0; to < boards; to++) {
            unsigned fx = from % columns, fy = from / columns, tx = to % columns, ty = to / columns;
            unsigned sends = from != to;
            if (locality == HX_NEAR_ALL_REDUCE)
                sends = fy == ty ? ring_sends(fx, tx, columns) : fx == tx ? ring_sends(fy, ty, rows) : 0;
            if (leaf[0] && fx != tx) {
                low += sends;
                high += p->column[fx] / leaf[0] != p->column[tx] / leaf[0] ? sends : 0;
            }
            if (leaf[1] && fy != ty) {
                low += sends;
                high += p->row[fy] / leaf[1] != p->row[ty] / leaf[1] ? sends : 0;
            }
        }
    }
    return low > 0 ? high / low : 0;
}

static void upper_traffic_is_that_of_every_send(void **state)
{
    (void)state;
    uint64_t random = seeded_by(9);
    for (unsigned n = 0; n < 500; n++) {
        struct hx_boards b;
        struct hx_placement p;
        const struct hx_placement_rules rules = {.aspect = 8,
                                                 .transpose = true,
                                                 .locality = seeded_below(&random, HX_LOCALITIES),
                                                 .leaf = {seeded_below(&random, 5), seeded_below(&random, 5)}};
        draw_random(&b, 12, 12, 40, &random);
        struct hx_shape shape = {1 + seeded_below(&random, 4), 1 + seeded_below(&random, 4)};
        if (hx_place(&p, &b, shape, &rules)) {
            assert_good(&p, &b, shape, &rules);
            for (unsigned locality = HX_NEAR_ALL_TO_ALL; locality < HX_LOCALITIES; locality++) {
                double is = hx_upper_share(&p, locality, rules.leaf);
                double expected = upper_share_by_hand(&p, locality, rules.leaf);
                if (is < expected - 1e-9 || is > expected + 1e-9)
                    fail_msg("n %u: %f, not %f", n, is, expected);
            }
        }
        hx_placement_free(&p);
        hx_boards_free(&b);
    }
}

static void near_is_on_one_leaf_if_that_is_free(void **state)
{
    (void)state;
    struct hx_boards b;
    struct hx_placement p;
    struct hx_placement_rules rules = {.aspect = 1, .leaf = {4, 0}};
    draw(&b, 8, 2,
         "###....."
         "###.....");
    assert_true(hx_place(&p, &b, (struct hx_shape){.rows = 2, .columns = 2}, &rules));
    assert_at(p.column, 2, "3 4");
    hx_placement_free(&p);
    rules.locality = HX_NEAR_ALL_TO_ALL;
    assert_true(hx_place(&p, &b, (struct hx_shape){.rows = 2, .columns = 2}, &rules));
    assert_at(p.column, 2, "4 5");
    hx_placement_free(&p);
    hx_boards_free(&b);
}

static void boards_taken_and_returned(void **state)
{
    (void)state;
    uint64_t random = seeded_by(5);
    struct hx_boards b, before;
    struct hx_placement p;
    draw_random(&b, 70, 9, 30, &random);
    hx_boards_make(&before, 70, 9);
    hx_boards_copy(&before, &b);
    assert_true(hx_place(&p, &b, (struct hx_shape){.rows = 2, .columns = 20}, &greedy));
    hx_placement_take(&p, &b);
    assert_int_equal(b.free, before.free - 40);
    for (unsigned i = 0; i < 40; i++)
        assert_false(hx_board_is_free(&b, p.column[i % 20], p.row[i / 20]));
    hx_placement_give_back(&p, &b);
    assert_int_equal(b.free, before.free);
    assert_memory_equal(b.bits, before.bits, (size_t)b.rows * b.words * sizeof *b.bits);
    assert_memory_equal(b.free_in, before.free_in, b.rows * sizeof *b.free_in);
    hx_placement_free(&p);
    hx_boards_free(&b);
    hx_boards_free(&before);
}

/* Against all sets of rows. */
static void the_largest_placement_is_found(void **state)
{
    (void)state;
    uint64_t random = 7;
    for (unsigned round = 0; round < 40; round++) {
        enum { COLUMNS = 6, ROWS = 5 };
        struct hx_boards b;
        unsigned most = 0;
        draw_random(&b, COLUMNS, ROWS, round * 3, &random);
        for (unsigned set = 1; set < 1U << ROWS; set++) {
            uint64_t common = ~UINT64_C(0);
            for (unsigned row = 0; row < ROWS; row++)
                common &= set >> row & 1 ? *hx_boards_row(&b, row) : ~UINT64_C(0);
            unsigned boards = (unsigned)(__builtin_popcount(set) * __builtin_popcountll(common));
            most = boards > most ? boards : most;
        }
        struct hx_placement p;
        hx_place_largest(&p, &b);
        assert_int_equal(p.shape.rows * p.shape.columns, most);
        for (unsigned n = 0; n < most; n++)
            assert_true(hx_board_is_free(&b, hx_placement_board(&p, n, COLUMNS) % COLUMNS,
                                         hx_placement_board(&p, n, COLUMNS) / COLUMNS));
        hx_placement_free(&p);
        hx_boards_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_largest_placement_is_found),
        cmocka_unit_test(the_greedy_rule),
        cmocka_unit_test(other_shapes),
        cmocka_unit_test(shapes_of_a_job),
        cmocka_unit_test(a_search_finds_every_placement),
        cmocka_unit_test(upper_traffic_is_that_of_every_send),
        cmocka_unit_test(near_is_on_one_leaf_if_that_is_free),
        cmocka_unit_test(boards_taken_and_returned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
