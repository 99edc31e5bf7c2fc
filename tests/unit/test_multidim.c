/* test_multidim.c - the closed forms of `hxmesh reproduce multidim` against what Won et al. (2021) publish, and our
 * search against SmartBW. */
#include "tools/reproduce/multidim.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { D2, D3, D4 };
enum { T_17B, GPT_3, T_1T };

static void near(double value, double expected, double relative)
{
    if (!(fabs(value / expected - 1) <= relative))
        fail_msg("%.6g, expected %.6g", value, expected);
}

static struct bandwidth_time time_of(unsigned network, unsigned job, double budget, enum bandwidth_way way,
                                     double *cost)
{
    const struct bandwidth_question q = multidim_question(network, job, budget);
    double rate[BANDWIDTH_DIMENSIONS];
    bandwidth_divide(&q, way, rate);
    if (cost)
        *cost = bandwidth_cost(&q.network, rate, q.prices);
    return bandwidth_answer(&q, rate);
}

static void transformer_1t_uses_what_the_paper_says(void **state)
{
    (void)state;
    near(time_of(D2, T_1T, 300, BANDWIDTH_EQUAL, NULL).use, 0.575, 0.01);
    near(time_of(D3, T_1T, 300, BANDWIDTH_EQUAL, NULL).use, 0.390, 0.01);
    near(time_of(D4, T_1T, 300, BANDWIDTH_EQUAL, NULL).use, 0.667, 0.01);
}

/* Means over networks, jobs and budgets. */
static void means_are_the_papers(void **state)
{
    (void)state;
    static const double use[] = {0.567, 0.966, 0.945}, speed[] = {1, 1.10, 1.17}, most[] = {1, 1.45, 1.86},
                        per_cost[] = {1, 8.52, 5.51};
    enum { CASES = MULTIDIM_NETWORKS * MULTIDIM_JOBS * MULTIDIM_BUDGETS };
    for (enum bandwidth_way way = 0; way <= BANDWIDTH_SMART; way++) {
        double uses = 0, speeds = 0, best = 0, costs = 0;
        for (unsigned i = 0; i < CASES; i++) {
            const unsigned network = i % MULTIDIM_NETWORKS, job = i / MULTIDIM_NETWORKS % MULTIDIM_JOBS;
            const double budget = multidim_budget(i / (MULTIDIM_NETWORKS * MULTIDIM_JOBS));
            double dollars, equal_dollars;
            const struct bandwidth_time t = time_of(network, job, budget, way, &dollars);
            const double faster =
                time_of(network, job, budget, BANDWIDTH_EQUAL, &equal_dollars).iteration / t.iteration;
            uses += t.use;
            speeds += faster;
            best = fmax(best, faster);
            costs += log(faster * equal_dollars / dollars);
        }
        near(uses / CASES, use[way], 0.02);
        near(speeds / CASES, speed[way], 0.01);
        near(best, most[way], 0.02);
        near(exp(costs / CASES), per_cost[way], 0.03);
    }
}

static void the_searches_are_never_behind(void **state)
{
    (void)state;
    for (unsigned network = 0; network < MULTIDIM_NETWORKS; network++) {
        for (unsigned job = 0; job < MULTIDIM_JOBS; job++) {
            for (unsigned b = 0; b < MULTIDIM_BUDGETS; b += 3) {
                double cost[BANDWIDTH_WAYS], seconds[BANDWIDTH_WAYS];
                for (enum bandwidth_way way = 0; way < BANDWIDTH_WAYS; way++)
                    seconds[way] = time_of(network, job, multidim_budget(b), way, &cost[way]).iteration;
                for (enum bandwidth_way way = 0; way < BANDWIDTH_SEARCH; way++) {
                    assert_true(seconds[BANDWIDTH_SEARCH] <= seconds[way]);
                    assert_true(seconds[BANDWIDTH_THRIFTY] * cost[BANDWIDTH_THRIFTY] <= seconds[way] * cost[way]);
                }
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transformer_1t_uses_what_the_paper_says),
        cmocka_unit_test(means_are_the_papers),
        cmocka_unit_test(the_searches_are_never_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
