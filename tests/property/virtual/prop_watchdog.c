/* prop_watchdog.c - a fabric with broken routes deadlocks, and the watchdog reports it with a true cycle; a fabric that
 * is merely slow or idle is not reported.
 *
 * Boards without a VC increment into networks use one VC for all. With buffers of a packet or two and traffic
 * between all hosts, packets soon form a dependency cycle. HX_SEED chooses other destinations; a failure names the
 * seed of its run. */
#include "fabric-emu/virtual/watchdog.h"
#include "tests/support/support_seed.h"
#include "tests/support/virtual/support_virtual.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ns */
#define PATIENCE 100000

static void never_increment(struct worker *w)
{
    for (uint32_t i = 0; i < w->sim_nodes; i++) {
        for (unsigned plane = 0; plane < w->sim_node[i]->planes; plane++)
            w->sim_node[i]->node[plane].sw.route.incrementing = 0;
    }
}

/* Full injection, buffers of one packet a VC. */
static struct support_virtual_plan crowd(const char *spec, unsigned workers)
{
    return (struct support_virtual_plan){
        .spec = spec,
        .workers = workers,
        .settings = {.pattern = HX_ALL_TO_ALL_RANDOM,
                     .message = 1 << 20,
                     .select = HX_SELECT_ADAPTIVE,
                     .seed = seeded_run,
                     .given = HX_GIVEN_PATTERN | HX_GIVEN_MESSAGE | HX_GIVEN_SELECT | HX_GIVEN_SEED},
        .timing = {.buffer = HX_LEAST_BUFFER, .given = HX_GIVEN_BUFFER}};
}

/* ---- checks of the report ---- */

/* "A VC a waits for B: no room at C VC c": one edge. */
struct edge {
    char input[HX_NAME_BYTES], output[HX_NAME_BYTES], far[HX_NAME_BYTES];
    char vc[4], far_vc[4];
};

static unsigned read_edges(const char *said, struct edge *edge, unsigned most)
{
    unsigned n = 0;
    for (const char *line = strchr(said, '\n'); line && n < most; line = strchr(line + 1, '\n')) {
        struct edge *e = &edge[n];
        if (sscanf(line + 1, "hxmesh: error: watchdog: %39s VC %3s waits for %39[^:]: no room at %39s VC %3s", e->input,
                   e->vc, e->output, e->far, e->far_vc) == 5)
            n++;
        else
            assert_true(line[1] == '\0');
    }
    return n;
}

/* The edges are existing cables, each leads to the next, and the last to the first. */
static void assert_cycle(const struct hx_fabric *g, const struct edge *edge, unsigned n)
{
    assert_true(n >= 2);
    for (unsigned i = 0; i < n; i++) {
        unsigned plane[3];
        uint32_t node[3];
        unsigned port[3];
        assert_true(hx_port_parse(edge[i].input, g, &plane[0], &node[0], &port[0]));
        assert_true(hx_port_parse(edge[i].output, g, &plane[1], &node[1], &port[1]));
        assert_true(hx_port_parse(edge[i].far, g, &plane[2], &node[2], &port[2]));
        assert_true(plane[0] == plane[1] && plane[1] == plane[2] && node[0] == node[1] && port[0] != port[1]);
        struct hx_end far = hx_fabric_far(g, node[1], port[1]);
        assert_true(far.node == node[2] && far.port == port[2]);
        const struct edge *next = &edge[(i + 1) % n];
        assert_string_equal(edge[i].far, next->input);
        assert_string_equal(edge[i].far_vc, next->vc);
    }
}

/* ---- fabrics that are reported ---- */

static void deadlocks(const char *spec, unsigned workers, unsigned planes)
{
    struct support_virtual_plan plan = crowd(spec, workers);
    plan.planes = planes;
    plan.change = never_increment;
    struct support_virtual s;
    support_virtual_open(&s, &plan);
    s.m.watchdog = PATIENCE * 1000ULL;
    s.m.check_steps = true;
    assert_true(support_virtual_run(&s));
    assert_true(watchdog_was_stuck(&s.m));
    for (unsigned w = 0; w < workers; w++)
        assert_true(s.m.area[w].stuck && !s.m.area[w].complete && s.m.area[w].movable == 0);
    support_virtual_listen(&s, watchdog_explain);
    static struct edge edge[256];
    assert_non_null(strstr(s.said, "hxmesh: error: watchdog: deadlock: no packet has moved since "));
    assert_cycle(s.g, edge, read_edges(s.said, edge, 256));
    support_virtual_close(&s);
}

static void a_deadlock_is_reported_with_its_cycle(void **state)
{
    (void)state;
    enum { SEEDS = 3 };
    seeded_run = seeded_by(1);
    for (unsigned run = 0; run < SEEDS; run++, seeded_run++) {
        deadlocks("3x3 Hx2Mesh", 1, 1);
        deadlocks("2x2 Hx3Mesh", 1, 2);
    }
    seeded_run = 0;
}

static void over_several_workers(void **state)
{
    (void)state;
    seeded_run = seeded_by(1);
    deadlocks("3x3 Hx2Mesh", 3, 1);
    seeded_run = 0;
}

/* Lost credit: packets wait without a cycle. */
static void lose_credit(struct worker *w)
{
    struct hal_switch *h = &w->sim_node[0]->node[0].hal;
    for (unsigned port = HX_E; port <= HX_S; port++)
        h->tx[port].lanes = 0;
}

static void a_wait_without_a_cycle(void **state)
{
    (void)state;
    const struct support_flow flow = {0, 1};
    const struct support_virtual_plan plan = {.spec = "1x1 Hx2Mesh", .flow = &flow, .flows = 1, .change = lose_credit};
    struct support_virtual s;
    support_virtual_open(&s, &plan);
    s.m.watchdog = PATIENCE * 1000ULL;
    assert_true(support_virtual_run(&s));
    assert_true(watchdog_was_stuck(&s.m));
    support_virtual_listen(&s, watchdog_explain);
    assert_non_null(strstr(s.said, "and no cycle: 8 packets stand in switches, 0 of them could go on"));
    assert_non_null(strstr(s.said, "a0,0/p0/local VC 0 waits for a0,0/p0/E: no room at a1,0/p0/W VC 0\n"));
    support_virtual_close(&s);
}

/* ---- fabrics that are not reported ---- */

static void ends_well(const struct support_virtual_plan *plan, uint64_t patience)
{
    struct support_virtual s;
    support_virtual_open(&s, plan);
    s.m.watchdog = patience;
    assert_true(support_virtual_run(&s));
    assert_false(watchdog_was_stuck(&s.m));
    assert_true(support_virtual_whole(&s));
    support_virtual_close(&s);
}

/* The same traffic with correct routes. */
static void a_crowd_without_deadlock(void **state)
{
    (void)state;
    enum { SEEDS = 3 };
    seeded_run = seeded_by(1);
    for (unsigned run = 0; run < SEEDS; run++, seeded_run++) {
        struct support_virtual_plan plan = crowd("3x3 Hx2Mesh", 2);
        plan.settings.message = 100000;
        ends_well(&plan, 1000);
    }
    seeded_run = 0;
}

/* The longest possible wait is allowed, at the least patience: long latencies, large switches with one output for
 * all inputs, slow crossbars, a slow class of links. */
static void slow_fabrics(void **state)
{
    (void)state;
    struct support_virtual_plan plan = crowd("3x2 Hx2Mesh", 1);
    plan.settings.message = 20000;
    plan.timing.cable = 300000;
    plan.timing.input = 100000;
    plan.timing.given |= HX_GIVEN_CABLE | HX_GIVEN_INPUT;
    ends_well(&plan, 1000);
    struct support_virtual_plan slow = {.spec = "16x1 Hx1Mesh",
                                        .settings = {.pattern = HX_INCAST, .given = HX_GIVEN_PATTERN},
                                        .timing = {.link = 10,
                                                   .crossbar = 10,
                                                   .buffer = HX_LEAST_BUFFER,
                                                   .given = HX_GIVEN_LINK | HX_GIVEN_CROSSBAR | HX_GIVEN_BUFFER}};
    ends_well(&slow, 1000);
    struct support_virtual_plan class = {.spec = "Ring(2)_Switch(4) gbps=400,1",
                                         .settings = {.pattern = HX_INCAST, .given = HX_GIVEN_PATTERN}};
    ends_well(&class, 1000);
}

/* Rare messages: in between nothing moves for much longer than the watchdog waits. */
static void idle_fabrics(void **state)
{
    (void)state;
    for (unsigned workers = 1; workers <= 2; workers++) {
        struct support_virtual_plan plan = {
            .spec = "2x2 Hx2Mesh",
            .workers = workers,
            .settings = {.pattern = HX_UNIFORM,
                         .rate = 1e-5,
                         .message = 8192,
                         .duration_ns = 40000000,
                         .given = HX_GIVEN_PATTERN | HX_GIVEN_RATE | HX_GIVEN_MESSAGE | HX_GIVEN_DURATION}};
        ends_well(&plan, 1000);
    }
}

/* A packet is injected just when the watchdog's time is over, so it has not waited long. Messages come at intervals,
 * each is acknowledged after half a microsecond; the interval shifts their start within a window. */
static void a_packet_at_the_last_moment(void **state)
{
    (void)state;
    const struct support_flow flow = {0, 1};
    struct support_virtual_plan plan = {.spec = "1x1 Hx2Mesh", .flow = &flow, .flows = 1};
    struct hx_timing timing = HX_DEFAULT_TIMING;
    timing = hx_timing_complete(&timing);
    struct model m = {0};
    const struct virtual_speeds speeds = model_speeds(&timing);
    virtual_timing_init(&m.timing, &speeds, HX_MESH_VCS);
    for (unsigned n = 0; n < 6; n++) {
        uint64_t interval = 40000000 + n * m.timing.window / 6;
        plan.settings = (struct hx_settings){.rate = 8192 / 0.2 / (double)interval, /* 0.2 B/ps */
                                             .message = 8192,
                                             .count = 2,
                                             .given = HX_GIVEN_RATE | HX_GIVEN_MESSAGE | HX_GIVEN_COUNT};
        for (uint64_t before = 200000; before < 700000; before += 20000)
            ends_well(&plan, interval - before - watchdog_longest_wait(&m));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_deadlock_is_reported_with_its_cycle, seeded_report),
        cmocka_unit_test_teardown(over_several_workers, seeded_report),
        cmocka_unit_test(a_wait_without_a_cycle),
        cmocka_unit_test_teardown(a_crowd_without_deadlock, seeded_report),
        cmocka_unit_test(slow_fabrics),
        cmocka_unit_test(idle_fabrics),
        cmocka_unit_test(a_packet_at_the_last_moment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
