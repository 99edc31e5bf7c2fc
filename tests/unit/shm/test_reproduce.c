/* test_reproduce.c - the runs of `hxmesh reproduce`, estimates of their work, and the paper's values. */
/* sanitizers: check-all */
#include "spec/spec.h"
#include "tools/reproduce/diameter2.h"
#include "tools/reproduce/eflops.h"
#include "tools/reproduce/experiment.h"
#include "tools/reproduce/family.h"
#include "tools/reproduce/paper.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct experiment *find(const char *word)
{
    for (const struct paper *paper = papers; paper->name; paper++)
        for (const struct experiment *e = paper->experiment; e->name; e++)
            if (experiment_is(paper, e, word))
                return e;
    fail_msg("no experiment %s", word);
    return NULL;
}

static bool are_same(const struct reproduce_run *a, const struct reproduce_run *b)
{
    return strcmp(a->fabric, b->fabric) == 0 && strcmp(a->traffic, b->traffic) == 0 && a->algorithm == b->algorithm &&
           a->bytes == b->bytes && a->seed == b->seed && a->rate == b->rate && a->place == b->place &&
           a->set[0] == b->set[0];
}

static void assert_plan(const struct reproduce_plan *p)
{
    assert_true(p->count > 0 && p->count < REPRODUCE_MOST_RUNS);
    for (unsigned r = 0; r < p->count; r++) {
        const double hops = reproduce_estimate(&p->run[r]);
        assert_true(isfinite(hops) && hops > 0);
        assert_true(p->effort != REPRODUCE_QUICK || hops < 3e6);
        for (unsigned other = 0; other < r && p->effort == REPRODUCE_FULL; other++)
            assert_false(are_same(&p->run[r], &p->run[other]));
    }
}

static void plans_have_runs_that_fit_each_once(void **state)
{
    (void)state;
    unsigned plans = 0;
    for (const struct paper *paper = papers; paper->name; paper++) {
        for (const struct experiment *e = paper->experiment; e->name; e++) {
            for (unsigned i = 0; i < REPRODUCE_EFFORTS && (e->runs || e->plan); i++, plans++) {
                struct reproduce_plan p = {.effort = i};
                experiment_plan(e, &p);
                assert_plan(&p);
            }
        }
    }
    assert_int_equal(plans, 17 * REPRODUCE_EFFORTS);
}

static void the_table_has_the_fabrics_of_the_paper(void **state)
{
    (void)state;
    struct reproduce_plan p = {.effort = REPRODUCE_DEFAULT};
    const char *fabrics[REPRODUCE_MOST_FABRICS];
    experiment_plan(find("table2"), &p);
    const char *const expected[] = {"16x16 Hx2Mesh",
                                    "8x8 Hx4Mesh",
                                    "32x32 Hx1Mesh",
                                    "64x64 Hx2Mesh",
                                    "32x32 Hx4Mesh",
                                    "fat-tree hosts=1024",
                                    "fat-tree hosts=1024 down=32 up=16",
                                    "fat-tree hosts=1024 down=32 up=8",
                                    "dragonfly a=16 p=8 h=8 groups=8",
                                    "hyperx 32x32 p=1",
                                    "torus 32x32 board=2x2",
                                    "fat-tree hosts=16384",
                                    "fat-tree hosts=16384 down=32 up=16",
                                    "fat-tree hosts=16384 down=32 up=8",
                                    "dragonfly a=32 p=17 h=16 groups=30",
                                    "128x128 Hx1Mesh",
                                    "torus 128x128 board=2x2"};
    assert_int_equal(plan_fabrics(&p, fabrics), sizeof expected / sizeof *expected);
    for (unsigned i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_string_equal(fabrics[i], expected[i]);
}

/* `hxmesh run "4x4 Hx2Mesh" --clock virtual -t all-to-all -m 64KiB` takes 156,096 packet-hops; a ninth of the
 * packets are acknowledgements, which the estimate leaves out. */
static void estimates_are_about_right(void **state)
{
    (void)state;
    struct reproduce_run run = {.fabric = "4x4 Hx2Mesh", .traffic = "all-to-all", .bytes = 65536};
    double whole = reproduce_estimate(&run);
    assert_true(fabs(whole - 156096.0 * 8 / 9) < 2000);
    run.shifts = 9;
    assert_true(fabs(reproduce_estimate(&run) - whole / 7) < 1);
    run = (struct reproduce_run){
        .fabric = "4x4 Hx2Mesh", .traffic = "all-reduce", .algorithm = "rings", .bytes = 8 << 20};
    assert_true(fabs(reproduce_estimate(&run) - 2.0 * 63 * 1024 * 2.5) < 1);
    /* 64 hosts with one link of 100 Gb/s, half of it for 100 us in packets of 8 KiB. A packet crosses 4.75 switches:
     * four links except within a leaf of eight, and the first. */
    run = (struct reproduce_run){.fabric = "fat-tree hosts=64 radix=16",
                                 .traffic = "uniform",
                                 .bytes = 65536,
                                 .timing = "sc15",
                                 .rate = 0.5,
                                 .duration = 100000};
    double mean = 1 + (7 * 2 + 56 * 4) / 63.0;
    assert_true(fabs(reproduce_estimate(&run) - 64 * 0.5 * 12.5 * 100000 / 8192 * mean) < 1);
    /* Six neighbours of each host, for any number of hosts. */
    run = (struct reproduce_run){.fabric = "fat-tree hosts=64 radix=16", .traffic = "neighbour-3d", .bytes = 65536};
    assert_true(fabs(reproduce_estimate(&run) - 64 * 8 * 6 * mean) < 1);
}

static void the_paper_has_values_for_its_own_fabrics(void **state)
{
    (void)state;
    assert_true(fabs(paper_figures_of("16x16 Hx2Mesh")->alltoall - 25.4) < 1e-9);
    assert_true(fabs(paper_figures_of("8x8 Hx4Mesh")->alltoall_ms - 48.7538) < 1e-9);
    assert_true(isnan(paper_figures_of("32x32 Hx1Mesh")->alltoall));
    assert_true(isnan(paper_figures_of("4x4 Hx2Mesh")->cost_musd));
}

/* The table counts copper cables for unused leaf ports of tapered trees: 0.4 and 1.3 % of the price. */
static void bought_parts_cost_what_the_table_says(void **state)
{
    (void)state;
    struct reproduce_plan p = {.effort = REPRODUCE_DEFAULT};
    const char *fabrics[REPRODUCE_MOST_FABRICS];
    experiment_plan(find("table2"), &p);
    unsigned count = plan_fabrics(&p, fabrics);
    unsigned priced = 0;
    for (unsigned i = 0; i < count; i++) {
        const struct paper_figures *paper = paper_figures_of(fabrics[i]);
        double most = (paper->cost_musd < 100 ? 0.05 : 0.5) + (paper->bought ? 0.013 * paper->cost_musd : 0);
        priced += isfinite(paper->cost_musd);
        if (isfinite(paper->cost_musd))
            assert_true(fabs(paper_bought_musd(fabrics[i]) - paper->cost_musd) <= most);
    }
    assert_int_equal(priced, count - 1); /* all except the grid of HyperX routers */
}

/* 4x4 Hx2Mesh, torus, 4 MiB: 8 x 8, so 28 steps. Half of a step's packets cross a board (1.28 + 40 + 86.12 + 40 ns),
 * half a network (1.28 + 40 + 2 * 105.12 + 40 ns). 2/4 * 7/8 * 9/8 of the vector pass a link of 50 GB/s. */
static void the_closed_form_by_hand(void **state)
{
    (void)state;
    double alpha = (167.4 + 291.52) / 2 * 1e-9;
    double seconds = 28 * alpha + 0.5 * 7 / 8 * 9 / 8 * 4194304 / 50e9;
    double share = 4194304 / seconds / 100e9;
    assert_true(fabs(paper_all_reduce_share("4x4 Hx2Mesh", "torus", 4 << 20) - share) < 1e-6);
}

/* Worst cases by 1/(2p), 1/h and 1/k of the spec; a routing in the spec does not hide the network. */
static void networks_of_the_study_are_found(void **state)
{
    (void)state;
    const struct diameter2_network *n = diameter2_network_of("slim-fly q=13 p=9 routing=ugal:n=4,c=2", REPRODUCE_FULL);
    assert_true(n && fabs(n->worst[REPRODUCE_FULL] - 1.0 / 18) < 1e-9);
    n = diameter2_network_of("mlfm h=15 routing=valiant", REPRODUCE_FULL);
    assert_true(n && fabs(n->worst[REPRODUCE_FULL] - 1.0 / 15) < 1e-9);
    n = diameter2_network_of("oft k=12", REPRODUCE_FULL);
    assert_true(n && fabs(n->worst[REPRODUCE_FULL] - 1.0 / 12) < 1e-9);
    assert_null(diameter2_network_of("oft k=1 routing=valiant", REPRODUCE_FULL));
    assert_null(diameter2_network_of("oft k=12", REPRODUCE_DEFAULT));
}

static unsigned hosts_of(const char *fabric)
{
    struct hx_spec spec;
    hx_spec_load(fabric, NULL, &spec);
    unsigned hosts = hx_spec_fabric(&spec)->hosts;
    hx_spec_free(&spec);
    return hosts;
}

/* 64, 128, ... 1,024 hosts, first on a fat tree and then on a BiGraph, all with 100 Gb/s links. */
static void clusters_of_eflops_are_alike(void **state)
{
    (void)state;
    struct reproduce_plan p = {.effort = REPRODUCE_FULL};
    const char *fabrics[REPRODUCE_MOST_FABRICS];
    experiment_plan(find("eflops/fig16"), &p);
    assert_int_equal(plan_fabrics(&p, fabrics), 10);
    for (unsigned i = 0; i < 10; i++)
        assert_int_equal(hosts_of(fabrics[i]), 64U << i / 2);
    for (unsigned r = 0; r < p.count; r++)
        assert_string_equal(p.run[r].timing, "sc15");
    assert_int_equal(eflops_steps("ring", 64), 126);
    assert_int_equal(eflops_steps("halving", 64), 12);
}

static void assert_member(const struct family_member *m)
{
    struct hx_spec spec;
    hx_spec_load(m->spec, NULL, &spec);
    const struct hx_fabric *f = hx_spec_fabric(&spec);
    unsigned ports = 0;
    for (uint32_t node = f->hosts; node < f->nodes; node++)
        for (unsigned port = 0; port < hx_fabric_ports(f, node); port++)
            ports += hx_fabric_far(f, node, port).node != HX_NOWHERE;
    assert_int_equal(f->hosts, m->hosts);
    assert_int_equal(f->nodes - f->hosts, m->routers);
    assert_int_equal(ports, m->ports);
    assert_int_equal((ports + f->hosts) / 2, m->links);
    hx_spec_free(&spec);
}

/* Sizes of formulas against those of the graphs; no router exceeds the radix. */
static void families_are_as_large_as_their_graphs(void **state)
{
    (void)state;
    unsigned validated = 0;
    for (unsigned i = 0; i < FAMILIES; i++) {
        double before = 0;
        for (unsigned radix = FAMILY_LEAST_RADIX; radix <= FAMILY_MOST_RADIX; radix += 3) {
            struct family_member m;
            if (!families[i].largest(radix, &m))
                continue;
            assert_true(m.hosts >= before && m.ports <= m.routers * radix);
            before = m.hosts;
            if (m.hosts > 5000)
                continue;
            assert_member(&m);
            validated++;
        }
    }
    assert_true(validated > 5 * FAMILIES);
}

/* Each form of a column; what is not finite is an empty cell and null. */
static void a_row_has_cells_and_keys(void **state)
{
    (void)state;
    static const char columns[] = "fabric|spec|text; ms|seconds|2 x 1e3; |good|flag; size|bytes|bytes; M$||short; "
                                  "n|n|count; none|none|1";
    const struct reproduce_plan plan = {.effort = REPRODUCE_FULL};
    struct reproduce_figure f = {.title = "title", .plan = &plan};
    char *text;
    size_t length;
    figure_begin(&f);
    figure_row(&f, figure_table(&f, 1, columns), columns, TEXTS("a"), NUMBERS(0.0125, 1, 4096, 224.4, 3, NAN));
    char *json = json_dumps(f.results, JSON_COMPACT | JSON_REAL_PRECISION(9));
    assert_string_equal(json,
                        "[{\"spec\":\"a\",\"seconds\":0.0125,\"good\":true,\"bytes\":4096,\"n\":3,\"none\":null}]");
    FILE *out = open_memstream(&text, &length);
    figure_print(&f, out);
    (void)fclose(out);
    assert_non_null(strstr(text, "  fabric     ms   size   M$  n  none\n"));
    assert_non_null(strstr(text, "  a       12.50  4 KiB  224  3     -\n"));
    free(json);
    free(text);
    figure_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_have_runs_that_fit_each_once),
        cmocka_unit_test(the_table_has_the_fabrics_of_the_paper),
        cmocka_unit_test(estimates_are_about_right),
        cmocka_unit_test(the_paper_has_values_for_its_own_fabrics),
        cmocka_unit_test(bought_parts_cost_what_the_table_says),
        cmocka_unit_test(the_closed_form_by_hand),
        cmocka_unit_test(networks_of_the_study_are_found),
        cmocka_unit_test(clusters_of_eflops_are_alike),
        cmocka_unit_test(families_are_as_large_as_their_graphs),
        cmocka_unit_test(a_row_has_cells_and_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
