/* test_collective_rings.c - the Hamiltonian cycles of firmware/collective_cycles.c, walked and counted. */
/* sanitizers: check-all */
#include "collective_parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LARGEST = 32 };

/* ---- a torus as a list of edges: a grid two wide has two between neighbours, one wide none ---- */

struct torus {
    unsigned columns, rows;
    uint8_t *used; /* [accelerator][accelerator] would be large: [accelerator][side], side 0 east, 1 south */
};

static unsigned index_of(const struct torus *t, struct hx_stand at)
{
    return at.row * t->columns + at.column;
}

/* Removes the edge between two neighbours; false: none is left. */
static bool use_edge(struct torus *t, struct hx_stand a, struct hx_stand b)
{
    for (unsigned turn = 0; turn < 2; turn++) {
        const struct hx_stand from = turn ? b : a;
        const struct hx_stand to = turn ? a : b;
        bool east = from.row == to.row && (from.column + 1U) % t->columns == to.column;
        bool south = from.column == to.column && (from.row + 1U) % t->rows == to.row;
        for (unsigned side = 0; side < 2; side++) {
            uint8_t *used = &t->used[2 * index_of(t, from) + side];
            if ((side ? south : east) && !*used && index_of(t, from) != index_of(t, to)) {
                *used = 1;
                return true;
            }
        }
    }
    return false;
}

/* Walks a cycle by the answers of the accelerators on it, and removes its edges. */
static void walk(struct torus *t, enum hx_cycle cycle)
{
    unsigned n = t->columns * t->rows;
    uint8_t *seen = calloc(n, 1);
    struct hx_stand at = {0, 0};
    struct hx_ring_stand here;
    hx_cycle_find(t->columns, t->rows, cycle, at, &here);
    uint32_t position = here.position;
    for (unsigned i = 0; i < n; i++) {
        hx_cycle_find(t->columns, t->rows, cycle, at, &here);
        assert_int_equal(here.size, n);
        assert_int_equal(here.position, position);
        assert_int_equal(seen[index_of(t, at)]++, 0);
        struct hx_ring_stand there;
        hx_cycle_find(t->columns, t->rows, cycle, here.next, &there);
        assert_int_equal(index_of(t, there.before), index_of(t, at));
        assert_true(n == 1 || use_edge(t, at, here.next));
        at = here.next;
        position = (position + 1) % n;
    }
    assert_int_equal(index_of(t, at), 0);
    free(seen);
}

static struct torus torus_of(unsigned columns, unsigned rows)
{
    return (struct torus){columns, rows, calloc((size_t)columns * rows, 2)};
}

/* ---- tests ---- */

static void a_single_cycle_on_every_shape(void **state)
{
    (void)state;
    for (unsigned columns = 1; columns <= LARGEST; columns++) {
        for (unsigned rows = 1; rows <= LARGEST; rows++) {
            struct torus t = torus_of(columns, rows);
            walk(&t, HX_CYCLE_SINGLE);
            free(t.used);
        }
    }
}

static void two_cycles_share_no_edge(void **state)
{
    (void)state;
    unsigned shapes = 0;
    for (unsigned columns = 1; columns <= LARGEST; columns++) {
        for (unsigned rows = 1; rows <= LARGEST; rows++) {
            if (!hx_cycles_exist(columns, rows))
                continue;
            struct torus t = torus_of(columns, rows);
            walk(&t, HX_CYCLE_FIRST);
            walk(&t, HX_CYCLE_SECOND);
            for (unsigned i = 0; i < 2 * columns * rows && columns * rows > 1; i++)
                assert_int_equal(t.used[i], 1);
            free(t.used);
            shapes++;
        }
    }
    assert_int_equal(shapes, 1 + (LARGEST - 2) * (LARGEST - 2) + LARGEST - 1);
}

static void bad_shapes_are_refused(void **state)
{
    (void)state;
    assert_true(hx_cycles_exist(1, 1));
    for (unsigned n = 2; n <= LARGEST; n++) {
        assert_false(hx_cycles_exist(1, n));
        assert_false(hx_cycles_exist(n, 1));
        assert_int_equal(hx_cycles_exist(2, n), n % 2 == 0);
        assert_int_equal(hx_cycles_exist(n, 2), n % 2 == 0);
    }
}

/* Whether the edges of a set form one cycle through all accelerators. */
static bool is_cycle(unsigned columns, unsigned rows, uint32_t set)
{
    unsigned n = columns * rows;
    unsigned at = 0, steps = 0;
    for (uint32_t left = set; left; steps++) {
        unsigned edge = 0;
        unsigned to = n;
        for (; edge < 2 * n && to == n; edge++) {
            unsigned from = edge / 2;
            unsigned end = edge % 2 ? (from / columns + 1) % rows * columns + from % columns
                                    : from / columns * columns + (from % columns + 1) % columns;
            if (left >> edge & 1 && (from == at || end == at))
                to = from == at ? end : from;
        }
        if (to == n || (to == 0 && steps + 1 < n))
            return false;
        left &= ~((uint32_t)1 << (edge - 1));
        at = to;
    }
    return steps == n && at == 0;
}

static void refusals_agree_with_an_exhaustive_search(void **state)
{
    (void)state;
    static const unsigned shapes[][2] = {{2, 2}, {2, 3}, {3, 2}, {2, 4}, {4, 2}, {3, 3}};
    for (unsigned i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        unsigned n = shapes[i][0] * shapes[i][1];
        uint32_t all = ((uint32_t)1 << 2 * n) - 1;
        bool exist = false;
        for (uint32_t set = 0; set <= all && !exist; set++)
            exist = (unsigned)__builtin_popcount(set) == n && is_cycle(shapes[i][0], shapes[i][1], set) &&
                    is_cycle(shapes[i][0], shapes[i][1], all & ~set);
        assert_int_equal(hx_cycles_exist(shapes[i][0], shapes[i][1]), exist);
    }
}

static unsigned common_divisor(unsigned a, unsigned b)
{
    return b ? common_divisor(b, a % b) : a;
}

/* Step X of the published cycles, for the published shapes. */
static void the_published_formula(void **state)
{
    (void)state;
    unsigned shapes = 0;
    for (unsigned c = 2; c <= 40; c++) {
        for (unsigned r = c; r <= 80; r += c) {
            if (common_divisor(r, c - 1) != 1)
                continue;
            for (unsigned x = 0; x < r * c; x++) {
                unsigned q = x / c, m = x % c;
                const struct hx_stand first = {.row = (uint16_t)q, .column = (uint16_t)((m + c * r - q) % c)};
                const struct hx_stand second = {.row = (uint16_t)((m + (c - 1) * q) % r), .column = (uint16_t)(q % c)};
                struct hx_ring_stand found;
                hx_cycle_find(c, r, HX_CYCLE_FIRST, first, &found);
                assert_int_equal(found.position, x);
                hx_cycle_find(c, r, HX_CYCLE_SECOND, second, &found);
                assert_int_equal(found.position, x);
            }
            shapes++;
        }
    }
    assert_true(shapes > 60);
}

static void a_large_cluster(void **state)
{
    (void)state;
    struct torus t = torus_of(128, 128);
    walk(&t, HX_CYCLE_FIRST);
    walk(&t, HX_CYCLE_SECOND);
    free(t.used);
    t = torus_of(1023, 1021);
    walk(&t, HX_CYCLE_SINGLE);
    free(t.used);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_single_cycle_on_every_shape), cmocka_unit_test(two_cycles_share_no_edge),
        cmocka_unit_test(bad_shapes_are_refused),        cmocka_unit_test(refusals_agree_with_an_exhaustive_search),
        cmocka_unit_test(the_published_formula),         cmocka_unit_test(a_large_cluster),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
