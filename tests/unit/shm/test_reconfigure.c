/* test_reconfigure.c - circuits that change while an iteration runs (tools/circuits/reconfigure.h). */
#include "tools/circuits/reconfigure.h"
#include "tools/circuits/search.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { GBPS = 8, SERVERS = 16 };
static const double rate = 1e9, latency = 1e-6; /* bytes a second; seconds */

static void near(double value, double expected, double relative)
{
    if (!(fabs(value - expected) <= relative * fabs(expected)))
        fail_msg("%.12g, expected %.12g", value, expected);
}

/* Rings of the strides 1 and 3 of 16 servers: all servers are alike, so the fullest link decides. */
static struct circuits rings(void)
{
    struct circuits c;
    circuits_new(&c, SERVERS, 4);
    for (uint32_t stride = 1; stride <= 3; stride += 2)
        for (uint32_t i = 0; i < SERVERS; i++)
            assert_true(circuits_add(&c, i, (i + stride) % SERVERS));
    return c;
}

static const struct reconfigure never = {
    .gbps = GBPS, .latency = 1e-6, .period = INFINITY, .forwards = true, .discount = 0.5};

static double static_time(const struct circuits_demand *d, const struct circuits *c)
{
    const struct circuits_links links = {.gbps = GBPS, .latency_ns = 1000};
    struct hx_problem problem;
    struct network_of_servers *n = circuits_network(c, &links, &problem);
    assert_non_null(n);
    const struct circuits_time t = circuits_time_of(d, n, NULL, 0, NULL);
    servers_free(n);
    return t.iteration;
}

static void circuits_that_never_change_take_the_time_of_the_closed_form(void **state)
{
    (void)state;
    struct circuits c = rings();
    struct circuits_exchange exchange[] = {{.all = 1e6}, {.all = 3e6}};
    struct circuits_demand d = {.servers = SERVERS,
                                .reduces = 1,
                                .reduce = {{.members = SERVERS, .bytes = 1e9}},
                                .exchanges = 2,
                                .exchange = exchange,
                                .forward_exchanges = 1,
                                .forward = 0.1};
    for (unsigned i = 0; i < 20; i++) {
        d.hidden = 0.1 * i;
        d.backward = d.hidden + 0.1;
        const struct reconfigured r = reconfigure_run(&d, &c, &never, 2);
        near(r.iteration, static_time(&d, &c), 1e-9);
        assert_int_equal(r.looks, 0);
    }
    circuits_free(&c);
}

static void with_nothing_to_send_nothing_changes(void **state)
{
    (void)state;
    struct circuits c = rings();
    const struct circuits_demand d = {.servers = SERVERS, .forward = 0.3, .backward = 0.6, .hidden = 0.5};
    struct reconfigure how = never;
    how.period = 0.05;
    how.dark = 0.01;
    for (unsigned eager = 0; eager < 2; eager++) {
        how.eager = eager;
        const struct reconfigured r = reconfigure_run(&d, &c, &how, 3);
        near(r.iteration, 0.9, 1e-12);
        assert_int_equal(r.looks, 0);
        assert_int_equal(r.changes, 0);
    }
    circuits_free(&c);
}

/* Four servers of one interface each: three matchings serve an exchange, one behind the other. */
static void each_change_costs_its_dark_time(void **state)
{
    (void)state;
    struct circuits c;
    struct circuits_exchange exchange = {.all = 1e6};
    const struct circuits_demand d = {.servers = 4, .exchanges = 1, .exchange = &exchange};
    circuits_new(&c, 4, 1);
    assert_true(circuits_add(&c, 0, 1));
    assert_true(circuits_add(&c, 2, 3));
    struct reconfigure how = {.gbps = GBPS, .latency = latency, .period = 1e-5, .eager = true, .discount = 0.5};
    static const double dark[] = {0, 1e-5, 4e-5, 1e-3};
    for (unsigned i = 0; i < sizeof dark / sizeof *dark; i++) {
        how.dark = dark[i];
        const struct reconfigured r = reconfigure_run(&d, &c, &how, 4);
        near(r.iteration, 3 * (1e6 / rate + how.dark) + latency, 1e-9);
        assert_int_equal(r.looks, 2 + 4 * 3);
        assert_int_equal(r.changes, 2 * r.looks);
        near(r.sent, 12e6, 1e-12);
        near(r.carried, r.sent, 1e-9);
    }
    circuits_free(&c);
}

/* Of two circuits between the same servers, one is there: one is set. */
static void a_second_circuit_of_a_pair_counts(void **state)
{
    (void)state;
    struct circuits c;
    struct circuits_exchange exchange = {.all = 1e6};
    const struct circuits_demand d = {.servers = 2, .exchanges = 1, .exchange = &exchange};
    circuits_new(&c, 2, 2);
    assert_true(circuits_add(&c, 0, 1));
    const struct reconfigure how = {
        .gbps = GBPS, .latency = latency, .period = 1e-5, .eager = true, .dark = 1e-5, .discount = 0.5};
    const struct reconfigured r = reconfigure_run(&d, &c, &how, 2);
    near(r.iteration, 1e6 / (2 * rate) + latency, 1e-9);
    assert_int_equal(r.changes, 1);
    circuits_free(&c);
}

/* Without a circuit and without a controller a flow waits for ever. */
static void what_has_no_circuit_waits(void **state)
{
    (void)state;
    struct circuits c = rings();
    struct circuits_exchange exchange = {.all = 1e6};
    const struct circuits_demand d = {.servers = SERVERS, .exchanges = 1, .exchange = &exchange};
    struct reconfigure how = never;
    how.forwards = false;
    assert_true(isinf(reconfigure_run(&d, &c, &how, 1).iteration));
    circuits_free(&c);
}

/* All that is sent arrives, over at least one circuit, and no faster than all circuits together. */
static void bytes_are_kept(void **state)
{
    (void)state;
    struct circuits c = rings();
    double scatter[SERVERS] = {[3] = 4e6, [9] = 1e6}, gather[SERVERS] = {[2] = 2e6};
    struct circuits_exchange exchange[] = {{.scatter = scatter}, {.gather = gather, .all = 1e5}};
    const struct circuits_demand d = {.servers = SERVERS,
                                      .reduces = 1,
                                      .reduce = {{.members = SERVERS, .bytes = 1e8}},
                                      .exchanges = 2,
                                      .exchange = exchange};
    const double bytes = circuits_exchanged(&d) + circuits_reduced(&d);
    for (unsigned i = 0; i < 8; i++) {
        const bool forwards = i & 1, eager = i & 2;
        const struct reconfigure how = {.gbps = GBPS,
                                        .latency = latency,
                                        .period = eager ? 1e-4 : 1e-2,
                                        .eager = eager,
                                        .dark = i & 4 ? 1e-3 : 0,
                                        .forwards = forwards,
                                        .discount = forwards ? 0.5 : 1};
        const struct reconfigured r = reconfigure_run(&d, &c, &how, 2);
        near(r.sent, bytes, 1e-9);
        assert_true(forwards ? r.carried >= r.sent * (1 - 1e-9) : fabs(r.carried / r.sent - 1) < 1e-9);
        assert_true(r.iteration >= r.carried / (SERVERS * 4 * rate));
        assert_true(r.looks > 0);
    }
    circuits_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(circuits_that_never_change_take_the_time_of_the_closed_form),
        cmocka_unit_test(with_nothing_to_send_nothing_changes),
        cmocka_unit_test(each_change_costs_its_dark_time),
        cmocka_unit_test(a_second_circuit_of_a_pair_counts),
        cmocka_unit_test(what_has_no_circuit_waits),
        cmocka_unit_test(bytes_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
