/* test_cluster.c - jobs that share the links of a fabric (tools/circuits/cluster.h). */
#include "tools/circuits/cluster.h"
#include "tools/circuits/time.h"
#include "topology/topology.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { GBPS = 8, ITERATIONS = 3, HOSTS = 16 };
static const double rate = 1e9; /* bytes a second */

static void near(double value, double expected, double relative)
{
    if (!(fabs(value - expected) <= relative * fabs(expected)))
        fail_msg("%.12g, expected %.12g", value, expected);
}

static struct hx_fabric tree(const char *spec)
{
    struct hx_fabric f;
    struct hx_problem problem;
    assert_true(hx_fabric_make(&f, spec, 1, &problem));
    return f;
}

/* Alone on a tree without taper, a job takes the time of the closed form. */
static void a_job_alone_takes_its_own_time(void **state)
{
    (void)state;
    struct circuits_exchange exchange[] = {{.all = 2e6}, {.all = 1e6}};
    struct circuits_demand d = {.servers = HOSTS,
                                .reduces = 1,
                                .reduce = {{.members = HOSTS, .bytes = 1e8}},
                                .exchanges = 2,
                                .exchange = exchange,
                                .forward_exchanges = 1,
                                .forward = 0.02,
                                .backward = 0.3};
    uint32_t server[HOSTS];
    double seconds[ITERATIONS];
    for (uint32_t i = 0; i < HOSTS; i++)
        server[i] = i;
    struct hx_fabric f = tree("fat-tree hosts=16 radix=4"), same = tree("fat-tree hosts=16 radix=4");
    struct network_of_servers *n = servers_network(&same, GBPS, 1000, 1);
    const struct cluster c = {.fabric = &f, .gbps = GBPS, .latency = 1e-6};
    const struct cluster_job job = {.demand = &d, .server = server, .begin = 0.5, .seconds = seconds};
    for (unsigned step = 0; step < 6; step++) {
        d.hidden = 0.05 * step;
        cluster_run(&c, &job, 1, ITERATIONS);
        const double expected = circuits_time_of(&d, n, NULL, 0, NULL).iteration;
        for (unsigned i = 0; i < ITERATIONS; i++)
            near(seconds[i], expected, 1e-3); /* closed forms have the latency of each path */
    }
    servers_free(n);
    hx_fabric_free(&f);
}

/* Jobs of two hosts on a tree of two leaves with one link up each. */
static void jobs_share_what_they_both_need(void **state)
{
    (void)state;
    struct hx_fabric f = tree("fat-tree hosts=8 radix=8 levels=2 down=4 up=1");
    struct circuits_exchange exchange = {.all = 1e6};
    const struct circuits_demand d = {.servers = 2, .exchanges = 1, .exchange = &exchange, .forward_exchanges = 1};
    static const uint32_t across[2][2] = {{0, 4}, {1, 5}}, within[2] = {2, 3};
    double seconds[3][ITERATIONS];
    const struct cluster_job job[] = {{.demand = &d, .server = across[0], .seconds = seconds[0]},
                                      {.demand = &d, .server = across[1], .seconds = seconds[1]},
                                      {.demand = &d, .server = within, .seconds = seconds[2]}};
    for (unsigned paths = 0; paths < 4; paths++) {
        const struct cluster c = {.fabric = &f, .gbps = GBPS, .paths = paths, .seed = 1};
        cluster_run(&c, job, 3, ITERATIONS);
        for (unsigned i = 0; i < ITERATIONS; i++) {
            near(seconds[0][i], 2 * 1e6 / rate, 1e-9);
            near(seconds[1][i], 2 * 1e6 / rate, 1e-9);
            near(seconds[2][i], 1e6 / rate, 1e-9);
        }
    }
    hx_fabric_free(&f);
}

/* Flows that each take a path meet; flows that divide do not, on a tree without taper. */
static void single_paths_collide(void **state)
{
    (void)state;
    struct hx_fabric f = tree("fat-tree hosts=16 radix=8 levels=2");
    struct circuits_exchange exchange = {.all = 1e6};
    const struct circuits_demand d = {.servers = HOSTS, .exchanges = 1, .exchange = &exchange, .forward_exchanges = 1};
    uint32_t server[HOSTS];
    double divided[ITERATIONS], one[ITERATIONS], again[ITERATIONS], many[ITERATIONS];
    const struct {
        unsigned paths;
        double *seconds;
    } run[] = {{0, divided}, {1, one}, {1, again}, {64, many}};
    for (uint32_t i = 0; i < HOSTS; i++)
        server[i] = i;
    for (unsigned i = 0; i < sizeof run / sizeof *run; i++) {
        const struct cluster c = {.fabric = &f, .gbps = GBPS, .paths = run[i].paths, .seed = 7};
        const struct cluster_job job = {.demand = &d, .server = server, .seconds = run[i].seconds};
        cluster_run(&c, &job, 1, ITERATIONS);
    }
    for (unsigned i = 0; i < ITERATIONS; i++) {
        near(divided[i], 15e6 / rate, 1e-9);
        near(again[i], one[i], 0); /* the same seed, the same paths */
        assert_true(one[i] > 1.05 * divided[i] && one[i] < 4 * divided[i]);
        assert_true(many[i] < one[i] && many[i] > (1 - 1e-9) * divided[i]);
    }
    hx_fabric_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_alone_takes_its_own_time),
        cmocka_unit_test(jobs_share_what_they_both_need),
        cmocka_unit_test(single_paths_collide),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
