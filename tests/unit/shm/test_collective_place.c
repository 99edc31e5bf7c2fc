/* test_collective_place.c - --place orders the ranks of a collective; without it the algorithm does. */
#include "spec/spec.h"
#include "workload/collective_jobs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { HOSTS = 32 };

struct bench {
    struct hx_spec spec;
    struct traffic traffic;
    struct collective_plan plan;
    struct hx_problem problem;
};

/* Plans an all-reduce on a BiGraph. */
static bool plan(struct bench *b, unsigned algorithm, const char *how, uint64_t seed)
{
    struct hx_settings settings = hx_default_settings;
    *b = (struct bench){.problem = {.exit_code = 0}};
    assert_true(hx_spec_try_load("bigraph m=4 n=8", NULL, &b->spec, &b->problem));
    settings.pattern = HX_COLLECTIVES + HX_ALL_REDUCE;
    settings.algorithm = algorithm;
    settings.place = how;
    settings.seed = seed;
    traffic_init(&b->traffic, &b->spec, hx_spec_fabric(&b->spec), &settings, NULL);
    return collective_plan_init(&b->plan, &b->traffic, &b->problem);
}

static void close_bench(struct bench *b)
{
    collective_plan_free(&b->plan);
    traffic_free(&b->traffic);
    hx_spec_free(&b->spec);
}

static bool is_by_number(const struct bench *b)
{
    uint32_t i = 0;
    while (i < HOSTS && b->plan.job[0].host[i] == i)
        i++;
    return i == HOSTS;
}

static void assert_order(const struct bench *b, const uint32_t *expected)
{
    for (uint32_t i = 0; i < HOSTS; i++) {
        assert_int_equal(b->plan.job[0].host[i], expected[i]);
        assert_int_equal(b->plan.place[expected[i]], i);
    }
}

static void halving_has_the_order_of_its_fabric(void **state)
{
    (void)state;
    struct bench b;
    uint32_t expected[HOSTS];
    for (uint32_t i = 0; i < HOSTS; i++)
        expected[i] = i;
    assert_true(plan(&b, HX_ALGORITHM_TREE + HX_BY_HALVING, NULL, 1));
    assert_true(hx_fabric_halving_order(hx_spec_fabric(&b.spec), expected, HOSTS));
    assert_false(is_by_number(&b));
    assert_order(&b, expected);
    close_bench(&b);
}

static void a_placed_group_keeps_its_order(void **state)
{
    (void)state;
    static const unsigned algorithms[] = {HX_ALGORITHM_BEST, HX_ALGORITHM_TREE + HX_BY_HALVING,
                                          HX_ALGORITHM_TREE + HX_BY_DOUBLING, HX_ALGORITHM_TREE + HX_BY_RING};
    for (unsigned i = 0; i < sizeof algorithms / sizeof *algorithms; i++) {
        struct bench b;
        assert_true(plan(&b, algorithms[i], "linear", 1));
        assert_true(is_by_number(&b));
        close_bench(&b);
    }
}

static void random_ranks_are_drawn_by_the_seed(void **state)
{
    (void)state;
    struct bench one, other;
    assert_true(plan(&one, HX_ALGORITHM_TREE + HX_BY_HALVING, "random", 1));
    assert_true(plan(&other, HX_ALGORITHM_TREE + HX_BY_HALVING, "random", 1));
    assert_false(is_by_number(&one));
    assert_order(&other, one.plan.job[0].host);
    close_bench(&other);
    assert_true(plan(&other, HX_ALGORITHM_TREE + HX_BY_HALVING, "random", 2));
    assert_memory_not_equal(other.plan.job[0].host, one.plan.job[0].host, HOSTS * sizeof(uint32_t));
    close_bench(&other);
    close_bench(&one);
}

static void a_placement_of_other_ranks_is_refused(void **state)
{
    (void)state;
    struct bench b;
    assert_false(plan(&b, HX_ALGORITHM_TREE + HX_BY_HALVING, "4x4", 1));
    assert_string_equal(b.problem.where, "--place");
    assert_string_equal(b.problem.what, "4x4 has 16 places for 32 ranks");
    traffic_free(&b.traffic);
    hx_spec_free(&b.spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(halving_has_the_order_of_its_fabric),
        cmocka_unit_test(a_placed_group_keeps_its_order),
        cmocka_unit_test(random_ranks_are_drawn_by_the_seed),
        cmocka_unit_test(a_placement_of_other_ranks_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
