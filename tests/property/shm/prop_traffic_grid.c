/* prop_traffic_grid.c - textbook patterns (tornado, transpose, bit reverse) on the grid of a job, and refusals where
 * they are undefined; on many shapes, with jobs and failed boards. */
#include "tests/support/shm/support_ground.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* ---- on the grid of a job ---- */

/* Columns and rows with boards of a job, failed ones included, computed by the test. */
struct sides {
    unsigned columns, rows;
    unsigned gx[GROUND_MOST], gy[GROUND_MOST];
};

static struct sides sides_of(const struct ground *g, unsigned job)
{
    struct sides s = {0};
    unsigned columns = g->f.spec.a * g->f.spec.x;
    bool has_column[GROUND_MOST] = {false};
    bool has_row[GROUND_MOST] = {false};
    for (unsigned rank = 0; rank < g->n; rank++) {
        has_column[rank % columns] |= g->job[rank] == job;
        has_row[rank / columns] |= g->job[rank] == job;
    }
    for (unsigned i = 0; i < GROUND_MOST; i++) {
        if (has_column[i])
            s.gx[s.columns++] = i;
        if (has_row[i])
            s.gy[s.rows++] = i;
    }
    return s;
}

static unsigned index_of(const unsigned *list, unsigned what)
{
    unsigned i = 0;
    while (list[i] != what)
        i++;
    return i;
}

/* Bits of the numbers below n if n is a power of two; otherwise 0. */
static unsigned bits_of(unsigned n)
{
    unsigned bits = 0;
    while (1U << bits < n)
        bits++;
    return 1U << bits == n ? bits : 0;
}

/* Destination of (column, row), digit by digit as in the textbook. */
static void place_to(unsigned pattern, const struct sides *s, unsigned column, unsigned row, unsigned to[2])
{
    unsigned number = row * s->columns + column;
    unsigned goes = number;
    to[0] = (column + (s->columns + 1) / 2 - 1) % s->columns;
    to[1] = (row + (s->rows + 1) / 2 - 1) % s->rows;
    if (pattern == HX_TORNADO)
        return;
    if (pattern == HX_TRANSPOSE) {
        /* Position of the element in the transposed matrix: the number of elements before it, column by column. */
        goes = 0;
        for (unsigned c = 0; c < s->columns; c++)
            for (unsigned r = 0; r < s->rows; r++)
                goes += c < column || (c == column && r < row);
    } else {
        unsigned bits = bits_of(s->columns * s->rows);
        for (unsigned bit = 0; bit < bits; bit++)
            goes = (goes & ~(1U << bit)) | (number >> (bits - 1 - bit) & 1U) << bit;
    }
    to[0] = goes % s->columns;
    to[1] = goes / s->columns;
}

static void is_as_the_book_says(const struct ground *g)
{
    unsigned columns = g->f.spec.a * g->f.spec.x;
    for (unsigned pattern = HX_TORNADO; pattern <= HX_BIT_REVERSE; pattern++) {
        struct traffic t = ground_traffic(g, pattern, g->seed, 0);
        bool taken[GROUND_MOST] = {false};
        for (unsigned rank = 0; rank < g->n; rank++) {
            struct sides s = sides_of(g, g->job[rank]);
            unsigned to[2];
            place_to(pattern, &s, index_of(s.gx, rank % columns), index_of(s.gy, rank / columns), to);
            unsigned partner = s.gy[to[1]] * columns + s.gx[to[0]];
            bool sends = ground_may_talk(g, rank, partner);
            assert_true(traffic_messages(&t, rank) == (sends ? GROUND_MESSAGES : 0));
            if (!sends)
                continue;
            assert_int_equal(traffic_destination(&t, rank, 1), partner);
            assert_false(taken[partner]); /* a permutation */
            taken[partner] = true;
        }
        traffic_free(&t);
    }
}

static void textbook_patterns(void **state)
{
    (void)state;
    ground_each(is_as_the_book_says);
}

static void a_square_is_transposed(void **state)
{
    (void)state;
    ground_open("4x4 Hx2Mesh", 0);
    struct traffic t = ground_traffic(&ground, HX_TRANSPOSE, 1, 0);
    for (unsigned gy = 0; gy < 8; gy++)
        for (unsigned gx = 0; gx < 8; gx++)
            if (gx != gy)
                assert_int_equal(traffic_destination(&t, gy * 8 + gx, 0), gx * 8 + gy);
    traffic_free(&t);
    ground_close();
}

static void undefined_patterns_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *fabric;
        unsigned pattern;
        const char *what; /* NULL: good */
    } cases[] = {
        {"3x3 Hx1Mesh", HX_BIT_REVERSE,
         "bit-reverse needs a power of two of accelerators, 4 or more, and 3x3 Hx1Mesh is a grid of 3 x 3 (permutation "
         "or "
         "uniform go on any)"},
        {"1x1 Hx2Mesh", HX_TORNADO,
         "tornado goes nowhere on sides below 3, and 1x1 Hx2Mesh is a grid of 2 x 2 (permutation or uniform go on "
         "any)"},
        {"4x1 Hx1Mesh", HX_TRANSPOSE,
         "transpose goes nowhere in a single line, and 4x1 Hx1Mesh is a grid of 4 x 1 (permutation or uniform go on "
         "any)"},
        {"4x2 Hx2Mesh", HX_BIT_REVERSE, NULL},
        {"3x3 Hx1Mesh", HX_TORNADO, NULL},
        {"3x2 Hx1Mesh", HX_TRANSPOSE, NULL},
        {"3x3 Hx1Mesh", HX_UNIFORM, NULL},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hx_spec spec;
        hx_spec_load(cases[i].fabric, NULL, &spec);
        const struct hx_fabric *g = hx_spec_fabric(&spec);
        const struct hx_settings s = ground_settings(cases[i].pattern, 1);
        struct hx_problem problem;
        assert_true(traffic_check(&spec, g, &s, &problem) == !cases[i].what);
        if (cases[i].what)
            assert_string_equal(problem.what, cases[i].what);
        hx_spec_free(&spec);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        GROUND_TEST(textbook_patterns),
        GROUND_TEST(a_square_is_transposed),
        GROUND_TEST(undefined_patterns_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
