/* test_circuits_time.c - times of iterations on networks of few servers, against closed forms. */
#include "base/error.h"
#include "tools/circuits/meter.h"
#include "tools/circuits/time.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define GB   1e9
#define RATE 10e9 /* bytes a second of a circuit */
#define HOP  1e-6 /* seconds of a circuit */

static const struct circuits_links links = {.gbps = 80, .latency_ns = 1000};

static void assert_close(double a, double b)
{
    if (fabs(a - b) > 1e-6 * fmax(fabs(a), fabs(b)))
        fail_msg("%.9g, not %.9g", a, b);
}

/* Rings of all servers by these strides; 0 ends them. */
static void join(struct circuits *c, uint32_t servers, const uint32_t *stride)
{
    unsigned rings = 0;
    while (stride[rings])
        rings++;
    circuits_new(c, servers, 2 * rings);
    for (; c->rings < rings; c->rings++) {
        c->ring[c->rings] = (struct circuits_ring){.stride = stride[c->rings]};
        for (uint32_t i = 0; i < servers; i++)
            assert_true(circuits_add(c, i, (i + stride[c->rings]) % servers));
    }
}

static struct network_of_servers *network_of(const struct circuits *c, const struct circuits_links *l)
{
    struct hx_problem problem;
    struct network_of_servers *n = circuits_network(c, l, &problem);
    if (!n)
        fail_msg("%s", problem.what);
    return n;
}

/* ---- sums ---- */

/* A sum of 2 (k - 1) steps divides its vector over both ways of all rings, and k segments. */
static void sums_divide_over_rings(void **state)
{
    (void)state;
    static const uint32_t strides[][4] = {{1}, {3}, {1, 3}, {1, 5, 7}};
    static const uint32_t servers[] = {5, 8, 16, 32};
    for (unsigned i = 0; i < sizeof strides / sizeof *strides; i++) {
        const uint32_t k = servers[i];
        struct circuits c;
        join(&c, k, strides[i]);
        struct network_of_servers *n = network_of(&c, &links);
        const struct circuits_demand d = {.servers = k, .reduces = 1, .reduce = {{.members = k, .bytes = 2 * GB}}};
        double *load = hx_allocate(servers_links(n), sizeof *load);
        const struct circuits_time t = circuits_time_of(&d, n, c.ring, c.rings, load);
        assert_close(t.sums, 2 * (k - 1.0) / k * 2 * GB / (2 * c.rings) / RATE + 2 * (k - 1) * HOP);
        assert_close(t.iteration, t.sums);
        assert_close(t.tax, 1);
        circuits_time_warm(n, c.ring, c.rings);
        assert_close(circuits_time_of(&d, n, c.ring, c.rings, NULL).iteration, t.iteration);
        for (uint32_t link = 0; link < servers_links(n); link++)
            if (servers_rate(n, link) > 0)
                assert_close(load[link], 2 * (k - 1.0) / k * 2 * GB / (2 * c.rings));
        free(load);
        servers_free(n);
        circuits_free(&c);
    }
}

/* A step of stride 3 around a ring of stride 1 is three hops, and three pairs share each circuit. */
static void a_ring_over_others_circuits_pays_for_hops(void **state)
{
    (void)state;
    static const struct circuits_ring ring = {.stride = 3};
    struct circuits c;
    join(&c, 11, (const uint32_t[]){1, 0});
    struct circuits_links slow = links;
    slow.forward_ns = 500;
    struct network_of_servers *n = network_of(&c, &slow);
    const struct circuits_demand d = {.servers = 11, .reduces = 1, .reduce = {{.members = 11, .bytes = GB}}};
    const struct circuits_time t = circuits_time_of(&d, n, &ring, 1, NULL);
    assert_close(t.sums, 3 * 2 * 10.0 / 11 * GB / 2 / RATE + 20 * (3 * HOP + 2 * 0.5e-6));
    assert_close(t.tax, 3);
    servers_free(n);
    circuits_free(&c);
}

/* Two halves of the servers sum at once; a server alone has nothing to sum. */
static void groups_sum_at_once(void **state)
{
    (void)state;
    static const uint32_t low[] = {0, 1, 2, 3}, high[] = {7, 6, 5, 4, 8};
    const struct circuits_demand d = {.servers = 9,
                                      .reduces = 3,
                                      .reduce = {{.members = 4, .member = low, .bytes = 4 * GB},
                                                 {.members = 5, .member = high, .bytes = 5 * GB},
                                                 {.members = 1, .member = low, .bytes = 5 * GB}}};
    struct network_of_servers *n = servers_ideal(9, 80, 1000);
    const struct circuits_time t = circuits_time_of(&d, n, NULL, 0, NULL);
    assert_close(t.sums, 2 * 4 * GB / RATE + 2 * 4 * 2 * HOP);
    assert_close(t.tax, 1);
    servers_free(n);
}

static void sums_hide_behind_computing(void **state)
{
    (void)state;
    struct network_of_servers *n = servers_ideal(2, 80, 0);
    struct circuits_demand d = {.servers = 2,
                                .reduces = 1,
                                .reduce = {{.members = 2, .bytes = 10 * GB}},
                                .forward = 1,
                                .backward = 3,
                                .hidden = 0.25};
    struct circuits_time t = circuits_time_of(&d, n, NULL, 0, NULL);
    assert_close(t.computing, 4);
    assert_close(t.sums, 1);
    assert_close(t.exposed, 0.75);
    assert_close(t.iteration, 4.75);
    d.hidden = 3;
    t = circuits_time_of(&d, n, NULL, 0, NULL);
    assert_true(t.exposed <= 0);
    assert_close(t.iteration, 4);
    servers_free(n);
}

/* ---- exchanges ---- */

/* On a ring of five: a scatter, then a gather and an exchange of all pairs at once. */
static void exchanges_follow_each_other(void **state)
{
    (void)state;
    double scatter[5] = {[2] = 3 * GB}, gather[5] = {[4] = GB};
    struct circuits_exchange exchange[] = {{.scatter = scatter}, {.gather = gather, .all = 2 * GB}};
    const struct circuits_demand d = {.servers = 5, .exchanges = 2, .exchange = exchange, .forward_exchanges = 1};
    struct circuits c;
    join(&c, 5, (const uint32_t[]){1, 0});
    struct network_of_servers *n = network_of(&c, &links);
    double *load = hx_allocate(servers_links(n), sizeof *load);
    const struct circuits_time t = circuits_time_of(&d, n, c.ring, c.rings, load);
    assert_close(t.exchanges, (2 * 3 * GB + 2 * GB + 3 * 2 * GB) / RATE + 2 * 2 * HOP);
    assert_close(t.iteration, t.exchanges);
    assert_close(t.tax, 1.5);
    double all = 0;
    for (uint32_t link = 0; link < servers_links(n); link++)
        all += servers_rate(n, link) > 0 ? load[link] : 0;
    assert_close(all, 1.5 * (4 * 3 + 4 * 1 + 20 * 2) * GB);
    free(load);
    servers_free(n);
    circuits_free(&c);
}

/* On a line of five, the first server has the longest path; of so few bytes latency counts. */
static void an_exchange_waits_for_its_longest_path(void **state)
{
    (void)state;
    double scatter[5] = {[0] = 1000, [2] = 1};
    struct circuits_exchange exchange = {.scatter = scatter};
    const struct circuits_demand d = {.servers = 5, .exchanges = 1, .exchange = &exchange};
    struct circuits c;
    circuits_new(&c, 5, 2);
    for (uint32_t i = 0; i < 4; i++)
        assert_true(circuits_add(&c, i, i + 1));
    struct network_of_servers *n = network_of(&c, &links);
    const struct circuits_ground g = {.network = n};
    circuits_time_warm(n, NULL, 0);
    struct circuits_meter *meter = circuits_meter_new(&g);
    assert_close(circuits_time_of(&d, n, NULL, 0, NULL).exchanges, 4 * 1000 / RATE + 4 * HOP);
    assert_close(circuits_meter_seconds(meter, &d), 4 * 1000 / RATE + 4 * HOP);
    circuits_meter_free(meter);
    servers_free(n);
    circuits_free(&c);
}

static void a_job_without_bytes_takes_its_computing(void **state)
{
    (void)state;
    const struct circuits_demand d = {.servers = 4, .forward = 1, .backward = 2};
    struct network_of_servers *n = servers_ideal(4, 80, 1000);
    const struct circuits_time t = circuits_time_of(&d, n, NULL, 0, NULL);
    assert_close(t.iteration, 3);
    assert_close(t.tax, 1);
    servers_free(n);
}

/* ---- graphs ---- */

static void a_graph_without_paths_is_refused(void **state)
{
    (void)state;
    struct circuits c;
    struct hx_problem problem;
    circuits_new(&c, 4, 1);
    assert_true(circuits_add(&c, 0, 1) && circuits_add(&c, 2, 3));
    assert_null(circuits_network(&c, &links, &problem));
    assert_non_null(strstr(problem.what, "there is no path"));
    circuits_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_divide_over_rings),
        cmocka_unit_test(a_ring_over_others_circuits_pays_for_hops),
        cmocka_unit_test(groups_sum_at_once),
        cmocka_unit_test(sums_hide_behind_computing),
        cmocka_unit_test(exchanges_follow_each_other),
        cmocka_unit_test(an_exchange_waits_for_its_longest_path),
        cmocka_unit_test(a_job_without_bytes_takes_its_computing),
        cmocka_unit_test(a_graph_without_paths_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
