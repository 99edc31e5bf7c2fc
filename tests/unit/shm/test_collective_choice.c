/* test_collective_choice.c - loads of messages on links, and estimates of collectives. */
#include "hxmesh/error.h"
#include "spec/collective_model.h"
#include "spec/spec.h"
#include "tests/support/support_effort.h"
#include "tests/support/support_random.h"
#include "topology/bounds.h"
#include "workload/collective_choice.h"
#include "workload/collective_loads.h"
#include "workload/collective_trial.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct hx_timing timing = HX_DEFAULT_TIMING;
static const char *const fabrics[] = {
    "2x2 Hx2Mesh", "4x4 Hx1Mesh", "torus 4x4",        "fat-tree hosts=16 radix=8", "hyperx 4x4 p=1",
    "torus 3x5",   "bigraph m=2", "slim-fly q=5 p=1", "Ring(4)_FC(2)_Switch(2)",   "dragonfly h=1"};
enum { FABRICS = sizeof fabrics / sizeof *fabrics };

static void build(struct hx_fabric *g, const char *text)
{
    struct hx_problem problem;
    if (!hx_fabric_make(g, text, 1, &problem))
        fail_msg("%s: %s", text, problem.what);
}

/* ---- loads ---- */

static double sum(const struct collective_loads *l, const double *load, bool local)
{
    double all = 0;
    for (uint32_t node = 0; node < l->g->nodes; node++) {
        for (unsigned port = 0; port < hx_fabric_ports(l->g, node); port++)
            all += (hx_is_host(l->g, node) && port == HX_LOCAL) == local ? load[l->g->node[node].first_port + port] : 0;
    }
    return all;
}

/* On minimal paths of equal length, the links together carry the bytes as often as a path has links. */
static void every_byte_is_on_each_link_of_a_path(void **state)
{
    (void)state;
    for (unsigned i = 0; i < FABRICS; i++) {
        struct hx_fabric g;
        struct collective_loads l;
        build(&g, fabrics[i]);
        collective_loads_open(&l, &g, &timing);
        double *load = calloc(g.ports, sizeof *load);
        for (uint32_t to = 0; to < g.hosts; to++) {
            const struct collective_path path = collective_loads_path(&l, 1, to);
            memset(load, 0, g.ports * sizeof *load);
            collective_loads_lay(&l, &path, 1000, load);
            assert_true(fabs(sum(&l, load, true) - (to == 1 ? 0 : 1000)) < 0.01);
            assert_true(fabs(sum(&l, load, false) - 1000 * hx_fabric_distance(&g, 1, to)) < 0.1);
            assert_true(collective_loads_worst(&l, &path, load) <= collective_loads_fullest(&l, load));
        }
        free(load);
        collective_loads_close(&l);
        hx_fabric_free(&g);
    }
}

/* Bytes on a few links are what they are on all, after random steps and even if a sum is 0 meanwhile. */
static void bytes_of_few_links_are_those_of_all(void **state)
{
    (void)state;
    struct hx_fabric g;
    struct collective_loads l;
    uint64_t random = seeded_by(1);
    build(&g, "4x4 Hx2Mesh");
    collective_loads_open(&l, &g, &timing);
    double *all = calloc(g.ports, sizeof *all), *one = calloc(g.ports, sizeof *one);
    for (unsigned i = 0; i < 300; i++) {
        const double times = (double)seeded_below(&random, 5) - 2;
        const unsigned messages = seeded_below(&random, 6);
        memset(one, 0, g.ports * sizeof *one);
        link_bytes_clear(&l.step);
        for (unsigned m = 0; m < messages; m++) {
            const uint32_t from = seeded_below(&random, g.hosts), to = seeded_below(&random, g.hosts);
            const struct collective_path path = collective_loads_path(&l, from, to);
            collective_loads_lay(&l, &path, 64, one);
            collective_loads_lay_few(&l, &path, 64, &l.step);
        }
        link_bytes_add(&l.total, &l.step, times);
        for (uint32_t port = 0; port < g.ports; port++) {
            all[port] += times * one[port];
            assert_true(fabs(l.step.bytes[port] - one[port]) < 1e-9);
            assert_true(fabs(l.total.bytes[port] - all[port]) < 1e-6);
        }
        assert_true(fabs(link_bytes_fullest(&l.total, l.slowness) - collective_loads_fullest(&l, all)) < 1e-12);
    }
    HX_FREE(all, one);
    collective_loads_close(&l);
    hx_fabric_free(&g);
}

static void the_latency_is_that_of_the_cables(void **state)
{
    (void)state;
    struct hx_fabric g;
    struct collective_loads l;
    build(&g, "torus 8x8");
    collective_loads_open(&l, &g, &timing);
    for (uint32_t to = 1; to < g.hosts; to++) {
        const double model = hx_model_latency(&l.timing, hx_fabric_distance(&g, 0, to), l.timing.cable);
        assert_true(fabs(collective_loads_path(&l, 0, to).latency - model) < 1e-12);
    }
    collective_loads_close(&l);
    hx_fabric_free(&g);
}

/* A shift is the same everywhere on a symmetric fabric. */
static void validate_shift(const char *text, uint32_t columns, uint32_t rows)
{
    struct hx_fabric g;
    struct collective_loads l;
    build(&g, text);
    collective_loads_open(&l, &g, &timing);
    double *load = calloc(g.ports, sizeof *load);
    for (uint32_t i = 0; i < g.hosts; i++) {
        const uint32_t column = (i + columns) % g.columns;
        const uint32_t row = (i / g.columns + rows) % g.rows;
        const struct collective_path path = collective_loads_path(&l, i, hx_fabric_at(&g, column, row));
        collective_loads_lay(&l, &path, 1000, load);
    }
    for (uint32_t port = 0; port < hx_fabric_ports(&g, 0); port++) {
        for (uint32_t host = 1; host < g.hosts; host++)
            assert_true(fabs(load[g.node[host].first_port + port] - load[g.node[0].first_port + port]) < 0.01);
    }
    free(load);
    collective_loads_close(&l);
    hx_fabric_free(&g);
}

static void symmetric_fabrics_have_equal_loads(void **state)
{
    (void)state;
    validate_shift("torus 6x6", 1, 0);
    validate_shift("torus 6x6", 3, 2);
    validate_shift("torus 8x8", 4, 4);
    validate_shift("6x6 Hx1Mesh", 2, 3);
    validate_shift("hyperx 4x4 p=1", 1, 2);
}

/* ---- estimates ---- */

static struct collective_job job_of(const struct hx_fabric *g, unsigned kind, uint64_t bytes)
{
    struct collective_job job = {.columns = g->columns, .rows = g->rows};
    job.config.kind = (uint8_t)kind;
    job.config.bytes = bytes;
    job.config.size = g->hosts;
    job.config.window = 4;
    job.host = calloc(g->hosts, sizeof *job.host);
    for (uint32_t i = 0; i < g->hosts; i++)
        job.host[i] = i;
    return job;
}

/* Each host sends, and receives, its share of the vector twice. */
static double least_seconds(const struct hx_fabric *g, uint64_t bytes)
{
    const double injected = hx_fabric_most_injection(g, HX_LINK_GBPS) * HX_LINK_GBPS * 1e9 / 8;
    return 2.0 * (double)bytes * (g->hosts - 1) / g->hosts / injected;
}

static void no_estimate_is_below_the_injection_bound(void **state)
{
    (void)state;
    for (unsigned i = 0; i < FABRICS; i++) {
        struct hx_fabric g;
        build(&g, fabrics[i]);
        for (uint64_t bytes = 4; bytes <= 64 << 20; bytes *= 64) {
            struct collective_job job = job_of(&g, HX_ALL_REDUCE, bytes);
            for (unsigned a = 0; a < HX_COLLECTIVE_ALGORITHMS; a++) {
                const double seconds = collective_seconds(&job, &g, (enum hx_collective_algorithm)a);
                assert_true(seconds >= least_seconds(&g, bytes) * 0.999);
            }
            assert_true(collective_seconds(&job, &g, collective_best(&job, &g)) < 1);
            free(job.host);
        }
        hx_fabric_free(&g);
    }
}

static void every_kind_has_an_estimate_that_grows(void **state)
{
    (void)state;
    struct hx_fabric g;
    build(&g, "4x4 Hx1Mesh");
    for (unsigned kind = 0; kind < HX_COLLECTIVE_KINDS; kind++) {
        struct collective_job job = job_of(&g, kind, 0);
        for (unsigned a = 0; a < HX_COLLECTIVE_ALGORITHMS; a++) {
            double before = 0;
            for (uint64_t bytes = 1 << 14; bytes <= 1 << 24; bytes *= 8) {
                job.config.bytes = kind == HX_BARRIER ? 0 : bytes;
                const double seconds = collective_seconds(&job, &g, (enum hx_collective_algorithm)a);
                assert_true(seconds > 0 && seconds >= before);
                before = seconds;
            }
        }
        assert_true(isfinite(collective_seconds(&job, &g, collective_best(&job, &g))));
        free(job.host);
    }
    hx_fabric_free(&g);
}

/* The order of the hosts is the job's: an estimate changes nothing. */
static void a_choice_leaves_the_job(void **state)
{
    (void)state;
    struct hx_fabric g;
    build(&g, "bigraph m=2 n=8");
    struct collective_job job = job_of(&g, HX_ALL_REDUCE, 4096);
    const struct collective_job before = job;
    (void)collective_best(&job, &g);
    assert_memory_equal(&job, &before, sizeof job);
    for (uint32_t i = 0; i < g.hosts; i++)
        assert_int_equal(job.host[i], i);
    free(job.host);
    hx_fabric_free(&g);
}

/* ---- trials ---- */

static double trial(const struct collective_job *job, const struct hx_fabric *g, enum hx_collective_algorithm algorithm,
                    uint64_t hops)
{
    struct collective_loads loads;
    struct collective_job copy = collective_job_by(job, g, algorithm);
    collective_open_choice(&loads, g);
    const double seconds =
        hx_collective_check(&copy.config) ? INFINITY : collective_trial(&copy, 1, &loads, INFINITY, hops);
    collective_loads_close(&loads);
    free(copy.host);
    return seconds;
}

/* At one switch no messages meet, but those for one host. */
static void a_trial_at_a_switch_takes_the_time_of_the_closed_form(void **state)
{
    (void)state;
    static const enum hx_collective_algorithm by[] = {HX_BY_HALVING, HX_BY_DOUBLING, HX_BY_BRUCK, HX_BY_DIRECT,
                                                      HX_BY_PAIRWISE};
    struct hx_fabric g;
    build(&g, "fat-tree hosts=16");
    for (unsigned i = 0; i < sizeof by / sizeof *by; i++) {
        for (uint64_t bytes = 1 << 14; bytes <= 1 << 22; bytes *= 16) {
            struct collective_job job = job_of(&g, HX_ALL_REDUCE, bytes);
            const struct hx_timing t = hx_timing_complete(&timing);
            const struct hx_collective_model m = {.kind = HX_ALL_REDUCE,
                                                  .algorithm = by[i],
                                                  .columns = g.columns,
                                                  .rows = g.rows,
                                                  .bytes = (double)bytes,
                                                  .alpha = hx_model_latency(&t, 2, t.cable),
                                                  .link_rate = 50e9,
                                                  .injection = 50e9};
            const double seconds = trial(&job, &g, by[i], UINT64_MAX);
            assert_true(fabs(seconds / hx_model_seconds(&m) - 1) < 0.06);
            free(job.host);
        }
    }
    hx_fabric_free(&g);
}

static void no_trial_is_below_the_injection_bound(void **state)
{
    (void)state;
    for (unsigned i = 0; i < FABRICS; i++) {
        struct hx_fabric g;
        build(&g, fabrics[i]);
        struct collective_job job = job_of(&g, HX_ALL_REDUCE, 1 << 18);
        for (unsigned a = 0; a < HX_COLLECTIVE_ALGORITHMS; a++)
            assert_true(trial(&job, &g, (enum hx_collective_algorithm)a, UINT64_MAX) >=
                        least_seconds(&g, 1 << 18) * 0.999);
        free(job.host);
        hx_fabric_free(&g);
    }
}

/* A pairwise exchange goes on as it began. */
static void a_trial_that_is_cut_goes_on_as_before(void **state)
{
    (void)state;
    struct hx_fabric g;
    build(&g, "torus 4x4");
    struct collective_job job = job_of(&g, HX_COLLECTIVE_ALL_TO_ALL, 1 << 22);
    const double whole = trial(&job, &g, HX_BY_PAIRWISE, UINT64_MAX);
    assert_true(fabs(trial(&job, &g, HX_BY_PAIRWISE, 8000) / whole - 1) < 0.2);
    free(job.host);
    hx_fabric_free(&g);
}

/* Hosts forward each other's packets, and answer those that arrive. A packet waits for those before it on a link, not
 * for those that a host injects later: messages of no bytes take the latency of their path. */
static void a_trial_of_a_barrier_on_hosts_that_forward_takes_one_latency(void **state)
{
    (void)state;
    static const char *const texts[] = {"mesh 4", "torus 3x4", "Ring(5)"};
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct hx_fabric g;
        struct collective_loads l;
        double longest = 0;
        build(&g, texts[i]);
        collective_loads_open(&l, &g, &timing);
        for (uint32_t from = 0; from < g.hosts; from++) {
            for (uint32_t to = 0; to < g.hosts; to++)
                longest = fmax(longest, collective_loads_path(&l, from, to).latency);
        }
        struct collective_job job = job_of(&g, HX_BARRIER, 0);
        assert_true(trial(&job, &g, HX_BY_DIRECT, UINT64_MAX) >= longest * 0.999);
        assert_true(trial(&job, &g, HX_BY_DIRECT, UINT64_MAX) <= longest * 1.1);
        free(job.host);
        collective_loads_close(&l);
        hx_fabric_free(&g);
    }
}

/* The bytes of all links together: each member but the root sends and receives the vector once, in whole blocks. */
static void a_tree_has_its_bytes_on_the_links(void **state)
{
    (void)state;
    static const enum hx_collective_algorithm by[] = {HX_BY_TREE, HX_BY_CHAIN, HX_BY_DOUBLE_TREE};
    for (unsigned i = 0; i < sizeof by / sizeof *by; i++) {
        struct hx_fabric g;
        struct collective_loads l;
        build(&g, "fat-tree hosts=8");
        collective_open_choice(&l, &g);
        struct collective_job job = job_of(&g, HX_ALL_REDUCE, 1 << 20);
        double *load = calloc(g.ports, sizeof *load);
        (void)collective_seconds_on(&job, &l, by[i], load);
        /* into endpoints; an acknowledgement of a block for each 16 KiB may be with them */
        assert_true(sum(&l, load, true) >= 2.0 * 7 * (1 << 20));
        assert_true(sum(&l, load, true) <= 2.0 * 7 * (1 << 20) * 1.01);
        free(load);
        free(job.host);
        collective_loads_close(&l);
        hx_fabric_free(&g);
    }
}

/* ---- choices ---- */

struct choice_case {
    const char *fabric;
    unsigned planes;
    enum hx_collective_kind kind;
    uint64_t bytes;
    uint32_t size, stride; /* of groups beside each other; size 0: all hosts */
    enum hx_collective_algorithm fastest;
};

/* Rank of a place in a group. */
static uint32_t rank_of(const struct choice_case *c, uint32_t group, uint32_t place)
{
    return group / c->stride * c->size * c->stride + group % c->stride + place * c->stride;
}

/* Chooses for the first of the groups. */
static enum hx_collective_algorithm chosen(const struct choice_case *c)
{
    struct hx_problem problem;
    struct hx_spec spec;
    struct traffic t;
    struct collective_loads loads;
    assert_true(hx_spec_parse(c->fabric, &spec, &problem));
    spec.planes = c->planes;
    assert_true(hx_spec_build(&spec, &problem));
    const struct hx_fabric *g = hx_spec_fabric(&spec);
    traffic_init(&t, &spec, g, &hx_default_settings, NULL);
    collective_open_choice(&loads, g);
    const uint32_t size = c->size ? c->size : g->hosts;
    uint32_t *host = calloc(g->hosts, sizeof *host);
    for (uint32_t i = 0; i < g->hosts; i++)
        host[i] = c->size ? rank_of(c, i / size, i % size) : i;
    const struct collective_family family = {host, size, g->hosts / size, NULL};
    struct collective_job job = {.config = {.kind = (uint8_t)c->kind, .bytes = c->bytes}};
    assert_true(collective_plan_group(&job, &t, &family, 0, HX_ALGORITHM_BEST, &loads, &problem));
    const enum hx_collective_algorithm algorithm = (enum hx_collective_algorithm)job.config.algorithm;
    free(job.host);
    free(host);
    collective_loads_close(&loads);
    traffic_free(&t);
    hx_spec_free(&spec);
    return algorithm;
}

/* The fastest by runs of all algorithms under the virtual clock (tests/system/collective.bats has some of them). */
static void the_fastest_is_chosen_where_estimates_are_too_short(void **state)
{
    (void)state;
    static const struct choice_case cases[] = {
        {"oft k=4", 1, HX_ALL_REDUCE, 2 << 20, 0, 0, HX_BY_HIERARCHY},
        {"slim-fly q=4 p=1", 4, HX_ALL_REDUCE, 4 << 20, 0, 0, HX_BY_DIRECT},
        {"torus 3x4x5", 1, HX_ALL_REDUCE, 4 << 20, 0, 0, HX_BY_HIERARCHY},
        /* rings of 288 hosts have too many messages to be tried */
        {"dragonfly a=8 p=4 h=4 groups=9", 1, HX_ALL_REDUCE, 4 << 20, 0, 0, HX_BY_HIERARCHY},
        {"mlfm h=4", 1, HX_ALL_REDUCE, 8 << 20, 20, 4, HX_BY_DIRECT},
        {"slim-fly q=5 p=2", 1, HX_ALL_REDUCE, 8 << 20, 25, 4, HX_BY_DIRECT},
    };
    enum { CASES = sizeof cases / sizeof *cases };
    for (unsigned n = 0; n < effort_few(3, CASES); n++) {
        const struct choice_case *c = &cases[effort_case(n, CASES)];
        assert_int_equal(chosen(c), c->fastest);
    }
}

/* By runs, tests/system/collective_sample.py: torus 2.80 us, ring 3.37; torus 45.9, ring 51.6. */
static void a_group_in_a_line_may_take_the_four_streams_of_a_torus(void **state)
{
    (void)state;
    static const struct choice_case cases[] = {
        {"Ring(5)_Switch(3)_Switch(5)", 1, HX_ALL_REDUCE, 81612, 3, 5, HX_BY_TORUS},
        {"FC(5)_Ring(3)_Switch(2) gbps=100,200,100", 1, HX_BROADCAST, 919552, 5, 2, HX_BY_TORUS},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(chosen(&cases[i]), cases[i].fastest);
}

/* A message to all others at once, none in return: half the time of two turns. Seven estimates are near each other. */
static void a_barrier_by_direct_takes_one_latency(void **state)
{
    (void)state;
    const struct choice_case groups_of_three = {"dragonfly a=3 p=2 h=1", 1, HX_BARRIER, 0, 3, 1, HX_BY_DIRECT};
    struct hx_fabric g;
    build(&g, "fat-tree hosts=3");
    struct collective_job job = job_of(&g, HX_BARRIER, 0);
    const double direct = collective_seconds(&job, &g, HX_BY_DIRECT);
    assert_true(fabs(collective_seconds(&job, &g, HX_BY_PAIRWISE) / direct / 2 - 1) < 0.05);
    assert_true(fabs(trial(&job, &g, HX_BY_DIRECT, UINT64_MAX) / direct - 1) < 0.05);
    assert_int_equal(chosen(&groups_of_three), HX_BY_DIRECT);
    free(job.host);
    hx_fabric_free(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_is_on_each_link_of_a_path),
        cmocka_unit_test(bytes_of_few_links_are_those_of_all),
        cmocka_unit_test(the_latency_is_that_of_the_cables),
        cmocka_unit_test(symmetric_fabrics_have_equal_loads),
        cmocka_unit_test(no_estimate_is_below_the_injection_bound),
        cmocka_unit_test(every_kind_has_an_estimate_that_grows),
        cmocka_unit_test(a_choice_leaves_the_job),
        cmocka_unit_test(a_trial_at_a_switch_takes_the_time_of_the_closed_form),
        cmocka_unit_test(no_trial_is_below_the_injection_bound),
        cmocka_unit_test(a_trial_that_is_cut_goes_on_as_before),
        cmocka_unit_test(a_trial_of_a_barrier_on_hosts_that_forward_takes_one_latency),
        cmocka_unit_test(a_tree_has_its_bytes_on_the_links),
        cmocka_unit_test(the_fastest_is_chosen_where_estimates_are_too_short),
        cmocka_unit_test(a_group_in_a_line_may_take_the_four_streams_of_a_torus),
        cmocka_unit_test(a_barrier_by_direct_takes_one_latency),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
