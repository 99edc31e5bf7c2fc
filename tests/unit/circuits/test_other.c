/* test_other.c - random regular graphs, and circuits of the greedy rule, step by step. */
#include "tests/support/support_circuits.h"
#include "tests/support/support_effort.h"
#include "tests/support/support_seed.h"
#include "tools/circuits/other.h"

#include <string.h>

enum { EXPANDERS = 300, GREEDY = 400, MOST = 40 };

/* ---- expander ---- */

static bool is_same(const struct circuits *one, const struct circuits *other)
{
    return one->count == other->count && memcmp(one->circuit, other->circuit, one->count * sizeof *one->circuit) == 0;
}

/* Every pair has as many circuits as all others, or one more, and all interfaces have one, but for one server if their
 * number is odd. */
static void assert_regular(const struct circuits *c)
{
    uint32_t spare = 0;
    for (uint32_t server = 0; server < c->servers; server++)
        spare += c->degree - circuits_used(c, server);
    assert_int_equal(spare, c->servers * c->degree % 2);
    const uint32_t least = c->servers > 1 ? c->degree / (c->servers - 1) : 0;
    for (uint32_t a = 0; a < c->servers; a++) {
        for (uint32_t b = 0; b < a; b++) {
            const uint32_t between = circuits_between_two(c, a, b);
            assert_true(between == least || between == least + 1);
        }
    }
}

static void an_expander_is_regular_and_joined(void **state)
{
    (void)state;
    seeded_run = seeded_by(1);
    for (uint32_t i = 0; i < effort(EXPANDERS); i++, seeded_run++) {
        uint64_t random = seeded_run;
        uint32_t of[MOST];
        struct circuits c;
        const uint32_t servers = seeded_below(&random, MOST - 1) + 2;
        const unsigned degree = seeded_below(&random, 9) + (servers > 2 ? 2 : 1);
        circuits_expander(&c, servers, degree, random);
        circuits_assert_sound(&c);
        assert_int_equal(circuits_components(&c, of), 1);
        assert_regular(&c);
        circuits_free(&c);
    }
    seeded_run = 0;
}

static void an_expander_is_random_by_its_seed(void **state)
{
    (void)state;
    struct circuits c[3];
    for (unsigned i = 0; i < 3; i++)
        circuits_expander(&c[i], 64, 8, i == 2 ? 1 : 0);
    assert_true(is_same(&c[0], &c[1]));
    assert_false(is_same(&c[0], &c[2]));
    for (unsigned i = 0; i < 3; i++)
        circuits_free(&c[i]);
}

/* Every pair of servers has a circuit about as often as every other: degree / (servers - 1) of all seeds. */
static void an_expander_prefers_no_pair(void **state)
{
    (void)state;
    enum { SERVERS = 12, DEGREE = 3, SEEDS = 8800 };
    unsigned times[SERVERS][SERVERS] = {{0}};
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct circuits c;
        circuits_expander(&c, SERVERS, DEGREE, seed);
        for (uint32_t i = 0; i < c.count; i++) {
            times[c.circuit[i].a][c.circuit[i].b]++;
            times[c.circuit[i].b][c.circuit[i].a]++;
        }
        circuits_free(&c);
    }
    for (uint32_t a = 0; a < SERVERS; a++)
        for (uint32_t b = 0; b < SERVERS; b++)
            if (a != b && (times[a][b] < 2200 || times[a][b] > 2600)) /* 2400, the deviation is 42 */
                fail_msg("%u and %u have a circuit %u times of %d", a, b, times[a][b], SEEDS);
}

/* ---- greedy ---- */

struct greedy {
    uint32_t servers;
    unsigned degree;
    double discount, served;
    double bytes[MOST * MOST];
};

static void draw_greedy(struct greedy *g, uint64_t *random)
{
    static const double discounts[] = {0.5, 0, 1};
    const unsigned kind = seeded_below(random, 3);
    g->servers = seeded_below(random, 15) + 2;
    g->degree = seeded_below(random, 5) + 1;
    g->discount = discounts[kind];
    g->served = kind == 2 ? 100 : 0;
    for (uint32_t i = 0; i < g->servers * g->servers; i++)
        g->bytes[i] = seeded_below(random, 3) ? seeded_below(random, 1000) : 0;
}

/* What a pair still has after the circuits that it has got. */
static double left(const struct greedy *g, const unsigned *circuits, uint32_t a, uint32_t b)
{
    double bytes = g->bytes[a * g->servers + b] + g->bytes[b * g->servers + a];
    for (unsigned i = 0; i < circuits[a * g->servers + b]; i++)
        bytes = g->discount * bytes - g->served;
    return bytes;
}

static double most_left(const struct greedy *g, const unsigned *circuits, const unsigned *used)
{
    double most = 0;
    for (uint32_t a = 0; a < g->servers; a++)
        for (uint32_t b = 0; b < g->servers; b++)
            if (a != b && used[a] < g->degree && used[b] < g->degree && left(g, circuits, a, b) > most)
                most = left(g, circuits, a, b);
    return most;
}

/* Each circuit joins a pair that has the most, and after the last one no pair has anything. */
static void assert_greedy(const struct greedy *g, const struct circuits *c)
{
    unsigned circuits[MOST * MOST] = {0}, used[MOST] = {0};
    for (uint32_t i = 0; i < c->count; i++) {
        const uint32_t a = c->circuit[i].a, b = c->circuit[i].b;
        assert_true(left(g, circuits, a, b) > 0);
        assert_true(left(g, circuits, a, b) == most_left(g, circuits, used));
        circuits[a * g->servers + b]++;
        circuits[b * g->servers + a]++;
        used[a]++;
        used[b]++;
    }
    assert_true(most_left(g, circuits, used) == 0);
}

static void each_step_takes_the_pair_with_most_bytes(void **state)
{
    (void)state;
    seeded_run = seeded_by(1);
    for (uint32_t i = 0; i < effort(GREEDY); i++, seeded_run++) {
        uint64_t random = seeded_run;
        uint32_t of[MOST];
        struct greedy g;
        struct circuits c;
        draw_greedy(&g, &random);
        circuits_greedy(&c, g.bytes, g.servers, g.degree, g.discount, g.served, false);
        circuits_assert_sound(&c);
        assert_greedy(&g, &c);
        circuits_free(&c);
        circuits_greedy(&c, g.bytes, g.servers, g.degree, g.discount, g.served, true);
        circuits_assert_sound(&c);
        assert_true(g.degree == 1 || circuits_components(&c, of) == 1);
        circuits_free(&c);
    }
    seeded_run = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(an_expander_is_regular_and_joined, seeded_report),
        cmocka_unit_test(an_expander_is_random_by_its_seed),
        cmocka_unit_test(an_expander_prefers_no_pair),
        cmocka_unit_test_teardown(each_step_takes_the_pair_with_most_bytes, seeded_report),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
