/* test_cycle.c - a cycle is found if there is one, and the result is a cycle. */
#include "fabric-emu/virtual/cycle.h"
#include "workload/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 12 };

struct edges {
    bool to[MOST][MOST];
};

static uint32_t next(const void *of, uint32_t vertex, unsigned n)
{
    const struct edges *e = of;
    for (uint32_t to = 0; to < MOST; to++) {
        if (e->to[vertex][to] && n-- == 0)
            return to;
    }
    return CYCLE_NONE;
}

static uint32_t find(const struct edges *e, uint32_t *cycle)
{
    const struct cycle_graph g = {MOST, e, next};
    return cycle_find(&g, cycle);
}

static void an_acyclic_graph(void **state)
{
    (void)state;
    uint32_t cycle[MOST];
    const struct cycle_graph nothing = {0, NULL, next};
    assert_int_equal(cycle_find(&nothing, cycle), 0);
    struct edges e = {{{false}}};
    assert_int_equal(find(&e, cycle), 0);
    /* All edges point upwards. */
    for (unsigned from = 0; from < MOST; from++) {
        for (unsigned to = from + 1; to < MOST; to++)
            e.to[from][to] = true;
    }
    assert_int_equal(find(&e, cycle), 0);
}

static void an_edge_to_its_own_vertex(void **state)
{
    (void)state;
    uint32_t cycle[MOST];
    struct edges e = {{{false}}};
    e.to[0][5] = e.to[5][5] = true;
    assert_int_equal(find(&e, cycle), 1);
    assert_int_equal(cycle[0], 5);
}

/* A cycle through all vertices, and a shorter one through the same vertex. */
static void the_shorter_cycle(void **state)
{
    (void)state;
    uint32_t cycle[MOST];
    struct edges e = {{{false}}};
    for (unsigned v = 0; v < MOST; v++)
        e.to[v][(v + 1) % MOST] = true;
    assert_int_equal(find(&e, cycle), MOST);
    e.to[2][0] = true;
    assert_int_equal(find(&e, cycle), 3);
}

/* Reachability by Warshall's closure. */
static bool has_cycle(struct edges e)
{
    for (unsigned over = 0; over < MOST; over++) {
        for (unsigned from = 0; from < MOST; from++) {
            for (unsigned to = 0; to < MOST; to++)
                e.to[from][to] = e.to[from][to] || (e.to[from][over] && e.to[over][to]);
        }
    }
    bool found = false;
    for (unsigned v = 0; v < MOST; v++)
        found = found || e.to[v][v];
    return found;
}

static void any_graph(void **state)
{
    (void)state;
    unsigned with = 0;
    for (uint64_t seed = 0; seed < 5000; seed++) {
        struct edges e = {{{false}}};
        for (unsigned n = 0; n < 4 + seed % 12; n++)
            e.to[random_below(random_of(seed, n, 0), MOST)][random_below(random_of(seed, n, 1), MOST)] = true;
        uint32_t cycle[MOST];
        uint32_t length = find(&e, cycle);
        assert_int_equal(length != 0, has_cycle(e));
        unsigned seen = 0;
        for (uint32_t n = 0; n < length; n++) {
            assert_true(e.to[cycle[n]][cycle[(n + 1) % length]]);
            assert_true(!(seen >> cycle[n] & 1));
            seen |= 1U << cycle[n];
        }
        with += length != 0;
    }
    assert_true(with > 500 && with < 4500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_acyclic_graph),
        cmocka_unit_test(an_edge_to_its_own_vertex),
        cmocka_unit_test(the_shorter_cycle),
        cmocka_unit_test(any_graph),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
