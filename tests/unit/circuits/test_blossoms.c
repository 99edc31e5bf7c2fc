/* test_blossoms.c - matchings of maximum weight: against all matchings of small graphs, and against the dual solution,
 * which proves a matching best, of large ones. */
#include "tests/support/support_effort.h"

#include "base/error.h"
#include "base/rng.h"
#include "tools/circuits/blossoms.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

/* ---- graphs ---- */

enum kind { DENSE, SPARSE, EQUAL, FEW_WEIGHTS, PLANE, CYCLES, LARGE_WEIGHTS, KINDS };

static int64_t random_weight(enum kind kind, uint64_t *random)
{
    switch (kind) {
    case SPARSE:
        return hx_rng_below(random, 4) ? 0 : 1 + hx_rng_below(random, 50);
    case EQUAL:
        return hx_rng_below(random, 3) ? 0 : 7;
    case FEW_WEIGHTS:
        return hx_rng_below(random, 4);
    case LARGE_WEIGHTS:
        return MATCHING_MOST_WEIGHT - hx_rng_below(random, 1000);
    default:
        return hx_rng_below(random, 1000000);
    }
}

static void set(int64_t *weight, uint32_t n, uint32_t a, uint32_t b, int64_t value)
{
    weight[(size_t)a * n + b] = value;
    weight[(size_t)b * n + a] = value;
}

/* Near points weigh most: shortest pairs have many blossoms in blossoms. */
static void points_of_a_plane(int64_t *weight, uint32_t n, uint64_t *random)
{
    int64_t x[256], y[256];
    for (uint32_t i = 0; i < n; i++) {
        x[i] = hx_rng_below(random, 100);
        y[i] = hx_rng_below(random, 100);
    }
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < i; j++)
            set(weight, n, i, j, 20001 - (x[i] - x[j]) * (x[i] - x[j]) - (y[i] - y[j]) * (y[i] - y[j]));
}

/* Odd cycles of heavy edges, three of them joined to a cycle again, with light edges between. */
static void cycles_of_cycles(int64_t *weight, uint32_t n, uint64_t *random)
{
    for (uint32_t size = 3; size <= n; size *= 3) {
        for (uint32_t i = 0; i < n; i++) {
            const uint32_t begin = i / size * size, next = begin + (i - begin + size / 3) % size;
            if (next < n && next != i)
                set(weight, n, i, next, 1000 / size + hx_rng_below(random, 3));
        }
    }
    for (uint32_t i = 0; i < n; i++)
        set(weight, n, i, (i + 1 + hx_rng_below(random, n - 1)) % n, 1 + hx_rng_below(random, 300));
}

/* free() it. */
static int64_t *graph(enum kind kind, uint32_t n, uint64_t seed)
{
    uint64_t random = seed;
    int64_t *weight = hx_allocate((size_t)n * n, sizeof *weight);
    assert_in_range(n, 2, 256);
    if (kind == PLANE) {
        points_of_a_plane(weight, n, &random);
    } else if (kind == CYCLES) {
        cycles_of_cycles(weight, n, &random);
    } else {
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = 0; j < i; j++)
                set(weight, n, i, j, random_weight(kind, &random));
    }
    return weight;
}

/* ---- checks ---- */

/* The best of all matchings: best[s] of the nodes in s, from those of fewer nodes. */
static int64_t best_of_all(uint32_t n, const int64_t *weight)
{
    static int64_t best[1 << 10];
    best[0] = 0;
    for (uint32_t s = 1; s < 1U << n; s++) {
        const uint32_t last = 31 - (uint32_t)__builtin_clz(s), rest = s & ~(1U << last);
        best[s] = best[rest];
        for (uint32_t other = 0; other < last; other++) {
            if (!(rest >> other & 1))
                continue;
            const int64_t with = weight[last * n + other] + best[rest & ~(1U << other)];
            best[s] = with > best[s] ? with : best[s];
        }
    }
    return best[(1U << n) - 1];
}

/* The matching is one, and its edges have the weight that it states. */
static void assert_matching(const struct matching *m, uint32_t n, const int64_t *weight)
{
    int64_t twice = 0;
    for (uint32_t node = 0; node < n; node++) {
        const uint32_t mate = matching_mate(m, node);
        if (mate == MATCHING_ALONE)
            continue;
        assert_true(mate < n && mate != node);
        assert_int_equal(matching_mate(m, mate), node);
        assert_true(weight[(size_t)node * n + mate] > 0);
        twice += weight[(size_t)node * n + mate];
    }
    assert_true(twice == 2 * matching_weight(m));
}

static void check(enum kind kind, uint32_t n, uint64_t seed)
{
    int64_t *weight = graph(kind, n, seed);
    struct matching *m = matching_find(n, weight);
    assert_matching(m, n, weight);
    if (n <= 10 && matching_weight(m) != best_of_all(n, weight))
        fail_msg("kind %d, %u nodes, seed %lu: weight %ld, the best is %ld", (int)kind, n, (unsigned long)seed,
                 (long)matching_weight(m), (long)best_of_all(n, weight));
    if (!matching_is_proved(m, weight))
        fail_msg("kind %d, %u nodes, seed %lu: not proved", (int)kind, n, (unsigned long)seed);
    matching_free(m);
    free(weight);
}

/* ---- tests ---- */

static void no_matching_of_a_small_graph_weighs_more(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < effort(3000); seed++)
        for (enum kind kind = 0; kind < KINDS; kind++)
            check(kind, 2 + seed % 9, seed);
}

static void every_graph_of_four_nodes_and_three_weights_is_solved(void **state)
{
    (void)state;
    for (uint32_t code = 0; code < 4096; code++) { /* four weights, six edges */
        int64_t weight[16] = {0};
        uint32_t rest = code;
        for (uint32_t a = 0; a < 4; a++)
            for (uint32_t b = 0; b < a; b++, rest /= 4)
                set(weight, 4, a, b, rest % 4);
        struct matching *m = matching_find(4, weight);
        assert_matching(m, 4, weight);
        assert_true(matching_is_proved(m, weight));
        assert_true(matching_weight(m) == best_of_all(4, weight));
        matching_free(m);
    }
}

static void duals_prove_matchings_of_large_graphs(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < effort(40); seed++)
        for (enum kind kind = 0; kind < KINDS; kind++)
            check(kind, 11 + (seed * 47 + (uint32_t)kind * 5) % 190, seed);
}

/* Other weights than those of the search: a proof for them must be right. */
static void proofs_are_refused_where_another_matching_is_best(void **state)
{
    (void)state;
    uint32_t proved = 0, refused = 0;
    for (uint32_t seed = 0; seed < effort(4000); seed++) {
        const uint32_t n = 2 + seed % 7;
        uint64_t random = seed;
        int64_t *weight = graph(FEW_WEIGHTS, n, seed), sum = 0;
        struct matching *m = matching_find(n, weight);
        const uint32_t a = hx_rng_below(&random, n), b = (a + 1 + hx_rng_below(&random, n - 1)) % n;
        set(weight, n, a, b, hx_rng_below(&random, 6));
        for (uint32_t node = 0; node < n; node++)
            sum += matching_mate(m, node) == MATCHING_ALONE ? 0 : weight[node * n + matching_mate(m, node)];
        if (matching_is_proved(m, weight)) {
            assert_true(sum == 2 * best_of_all(n, weight));
            proved++;
        } else {
            refused++;
        }
        matching_free(m);
        free(weight);
    }
    assert_true(proved > 0 && refused > 0);
}

static void graphs_without_edges_have_empty_matchings(void **state)
{
    (void)state;
    const int64_t nothing[9] = {0};
    for (uint32_t n = 0; n <= 3; n++) {
        struct matching *m = matching_find(n, nothing);
        for (uint32_t node = 0; node < n; node++)
            assert_int_equal(matching_mate(m, node), MATCHING_ALONE);
        assert_true(matching_weight(m) == 0);
        assert_true(matching_is_proved(m, nothing));
        matching_free(m);
    }
    matching_free(NULL);
}

/* The heavy edge in the middle is worth less than those beside it; without one of these it is worth more. */
static void a_heavy_edge_may_be_left_out(void **state)
{
    (void)state;
    int64_t weight[16] = {0};
    set(weight, 4, 0, 1, 6);
    set(weight, 4, 1, 2, 10);
    set(weight, 4, 2, 3, 5);
    struct matching *m = matching_find(4, weight);
    assert_true(matching_weight(m) == 11);
    assert_int_equal(matching_mate(m, 3), 2);
    matching_free(m);
    set(weight, 4, 2, 3, 4);
    set(weight, 4, 0, 1, 5);
    m = matching_find(4, weight);
    assert_true(matching_weight(m) == 10);
    assert_int_equal(matching_mate(m, 0), MATCHING_ALONE);
    matching_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_matching_of_a_small_graph_weighs_more),
        cmocka_unit_test(every_graph_of_four_nodes_and_three_weights_is_solved),
        cmocka_unit_test(duals_prove_matchings_of_large_graphs),
        cmocka_unit_test(proofs_are_refused_where_another_matching_is_best),
        cmocka_unit_test(graphs_without_edges_have_empty_matchings),
        cmocka_unit_test(a_heavy_edge_may_be_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
