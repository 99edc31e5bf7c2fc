/* test_topoopt.c - the arithmetic of `hxmesh reproduce topoopt`, and what Wang et al. (NSDI 2023) publish. */
#include "tools/reproduce/topoopt_job.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void near(double value, double expected, double relative)
{
    if (!(fabs(value / expected - 1) <= relative))
        fail_msg("%.6g, expected %.6g", value, expected);
}

/* DLRM of figures 12 to 15, without a search. */
static struct topoopt_case dlrm(unsigned degree, const char *batch)
{
    return (struct topoopt_case){
        .job = TOPOOPT_DLRM, .degree = degree, .gbps = 100, .set = {"servers=128", "tables=128", batch}};
}

/* An interface of 100 Gb/s: NIC 678, transceiver 99, panel port 100, half of two fibres' ends 150. In a tree: a NIC,
 * five ports of 187, six transceivers, three fibres of 500 m. */
static void a_tree_of_equal_cost_has_the_rate_of_the_prices(void **state)
{
    (void)state;
    const double circuit = 678 + 99 + 100 + 150, tree = 678 + 5 * 187 + 6 * 99 + 3 * 150;
    near(topoopt_tree_gbps(4, 100), 400 * circuit / tree, 1e-9);
    near(topoopt_tree_gbps(8, 100), 800 * circuit / tree, 1e-9);
}

/* All pairs exchange alike, so the tax follows from the mean path and the part of the bytes that is exchanged. */
static void paths_and_taxes_are_the_papers(void **state)
{
    (void)state;
    static const struct {
        unsigned degree;
        const char *batch;
        double path, tax;
    } known[] = {{4, "batch=64", 5.7, 1.11}, {8, "batch=64", 3, 1.05}, {4, "batch=2048", 5.7, 3.03}};
    for (unsigned i = 0; i < sizeof known / sizeof *known; i++) {
        const struct topoopt_case c = dlrm(known[i].degree, known[i].batch);
        struct topoopt_answer a = topoopt_answer(&c, TOPOOPT_CIRCUITS);
        const double exchanged = circuits_exchanged(&a.result.demand), summed = circuits_reduced(&a.result.demand);
        struct circuits_paths paths;
        assert_true(circuits_measure(&a.result.circuits, &paths));
        near(paths.mean, known[i].path, 0.05);
        near(a.result.time.tax, 1 + exchanged / (exchanged + summed) * (paths.mean - 1), 1e-6);
        near(a.result.time.tax, known[i].tax, 0.1);
        uint32_t links;
        double *load = topoopt_link_loads(&a, &c, &links), sum = 0;
        assert_int_equal(links, 128 * known[i].degree);
        for (uint32_t link = 0; link < links; link++)
            sum += load[link];
        near(sum, a.result.time.tax * (exchanged + summed), 1e-6);
        free(load);
        free(paths.of_length);
        topoopt_free(&a);
    }
}

/* Without a search: times of sums decide, and their ratio is that of the rates. */
static void candle_is_as_much_faster_as_the_paper_says(void **state)
{
    (void)state;
    const struct topoopt_case c = {.job = TOPOOPT_CANDLE, .degree = 4, .gbps = 100, .set = {"servers=128"}};
    struct topoopt_answer own = topoopt_answer(&c, TOPOOPT_CIRCUITS), tree = topoopt_answer(&c, TOPOOPT_TREE);
    near(tree.iteration / own.iteration, topoopt_jobs[TOPOOPT_CANDLE].tree, 0.2);
    near(tree.result.time.sums / own.result.time.sums, 400 / topoopt_tree_gbps(4, 100), 0.01);
    topoopt_free(&own);
    topoopt_free(&tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tree_of_equal_cost_has_the_rate_of_the_prices),
        cmocka_unit_test(paths_and_taxes_are_the_papers),
        cmocka_unit_test(candle_is_as_much_faster_as_the_paper_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
