/* test_collective_choice.c - loads of messages on links, and estimates of collectives. */
#include "hxmesh/error.h"
#include "spec/collective_model.h"
#include "topology/bounds.h"
#include "workload/collective_choice.h"
#include "workload/collective_loads.h"

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
            const double best = collective_seconds(&job, &g, collective_best(&job, &g));
            for (unsigned a = 0; a < HX_COLLECTIVE_ALGORITHMS; a++) {
                const double seconds = collective_seconds(&job, &g, (enum hx_collective_algorithm)a);
                assert_true(seconds >= least_seconds(&g, bytes) * 0.999 && seconds >= best);
            }
            assert_true(best < 1);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_is_on_each_link_of_a_path),
        cmocka_unit_test(the_latency_is_that_of_the_cables),
        cmocka_unit_test(symmetric_fabrics_have_equal_loads),
        cmocka_unit_test(no_estimate_is_below_the_injection_bound),
        cmocka_unit_test(every_kind_has_an_estimate_that_grows),
        cmocka_unit_test(a_choice_leaves_the_job),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
