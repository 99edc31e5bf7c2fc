/* prop_steps.c - under the virtual clock nothing is lost or made up: after every window of time credits and packets
 * are counted, in random fabrics with random timing and traffic; and who takes or adds some on purpose is found out.
 *
 * HX_SEED chooses other runs; a failure names the seed of its run. */
#include "fabric-emu/virtual/audit.h"
#include "tests/support/support_effort.h"
#include "tests/support/support_random.h"
#include "tests/support/virtual/support_virtual.h"
#include "workload/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { RUNS = 40 };
static uint64_t seed_of_run;

static unsigned below(unsigned what, unsigned n)
{
    return random_below(random_of(seed_of_run, what, 0), n);
}

static void audit(const struct model *m)
{
    (void)audit_links(m); /* says what is wrong */
}

/* ---- what is right ---- */

/* Rates and latencies of all orders, buffers from one packet on. */
static struct hx_timing any_timing(void)
{
    static const unsigned cables[] = {1, 20, 40, 333, 2000};
    struct hx_timing t = {.given = HX_GIVEN_LINK | HX_GIVEN_CROSSBAR | HX_GIVEN_CABLE | HX_GIVEN_TRACE |
                                   HX_GIVEN_INPUT | HX_GIVEN_OUTPUT | HX_GIVEN_BUFFER};
    t.link = 100 + below(1, 900);
    t.crossbar = t.link + below(2, 4) * below(3, 1000);
    t.cable = cables[below(4, 5)];
    t.trace = 1 + below(5, 50);
    t.input = below(6, 60);
    t.output = below(7, 60);
    t.buffer = 3ULL * 8192 * (1 + below(8, 3) * below(9, 20)) + below(10, 8192);
    return t;
}

static void any_plan(struct support_virtual_plan *plan)
{
    static const char *const specs[] = {"3x2 Hx2Mesh", "2x2 H3x2Mesh", "5x3 Hx1Mesh", "2x1 Hx4Mesh", "9x1 H1x2Mesh"};
    unsigned spec = below(11, 5);
    *plan = (struct support_virtual_plan){
        .spec = specs[spec], .planes = 1 + below(12, 2), .workers = 1 + below(13, 3), .timing = any_timing()};
    plan->radix = spec == 4 ? 8 : 0;
    plan->settings = (struct hx_settings){.pattern = below(14, HX_PATTERNS),
                                          .message = 1 + below(15, 40000),
                                          .seed = seed_of_run,
                                          .verify = below(16, 2),
                                          .select = below(17, HX_SELECTIONS),
                                          .given = HX_GIVEN_PATTERN | HX_GIVEN_MESSAGE | HX_GIVEN_SEED |
                                                   HX_GIVEN_VERIFY | HX_GIVEN_SELECT};
}

static void every_step_of_random_runs(void **state)
{
    (void)state;
    uint64_t first = seeded_by(1);
    for (seed_of_run = first; seed_of_run < first + effort(RUNS); seed_of_run++) {
        struct support_virtual_plan plan;
        struct support_virtual s;
        any_plan(&plan);
        support_virtual_open(&s, &plan);
        s.m.check_steps = true;
        s.m.watchdog = 1000000;
        bool good = support_virtual_run(&s) && support_virtual_whole(&s) && !s.m.area[0].stuck;
        if (good)
            support_virtual_listen(&s, audit);
        if (!good || s.said[0])
            fail_msg("HX_SEED=%llu, %s with %u workers: %s", (unsigned long long)seed_of_run, plan.spec, plan.workers,
                     s.said);
        support_virtual_close(&s);
    }
}

/* ---- what is wrong on purpose ---- */

/* In the worker of accelerator 0: its link E, VC 1. */
static void take_a_block(struct worker *w)
{
    if (w->self == 0)
        w->sim_node[0]->node[0].hal.tx[HX_E].lanes -= 1U << HX_LANE_BITS;
}

static void add_a_block(struct worker *w)
{
    if (w->self == 0)
        w->sim_node[0]->node[0].hal.tx[HX_E].lanes += 1U << HX_LANE_BITS;
}

static void confuse_positions(struct worker *w)
{
    struct virtual_rx *rx = &w->sim_node[0]->node[0].hal.rx[HX_S];
    rx->ready = hx_lane_add(rx->ready, 2, 1);
}

static void finds(const char *spec, unsigned workers, void (*change)(struct worker *), const char *said)
{
    const struct support_flow flow = {2, 3};
    const struct support_virtual_plan plan = {.spec = spec,
                                              .workers = workers,
                                              .flow = &flow,
                                              .flows = 1,
                                              .change = change,
                                              .timing = {.buffer = 30 * 8192, .given = HX_GIVEN_BUFFER}};
    struct support_virtual s;
    support_virtual_open(&s, &plan);
    s.m.check_steps = true;
    if (support_virtual_run(&s))
        support_virtual_listen(&s, audit);
    if (strncmp(s.said, said, strlen(said)) != 0)
        fail_msg("'%s' is not '%s'", s.said, said);
    assert_ptr_equal(strchr(s.said, '\n'), s.said + strlen(s.said) - 1);
    support_virtual_close(&s);
}

static void a_block_inside_a_worker(void **state)
{
    (void)state;
    finds("1x1 Hx2Mesh", 1, take_a_block,
          "hxmesh: error: a0,0/p0/E: VC 1: credit 319 + in flight 0 + held at the far end 0 blocks are not the "
          "320 of its buffer, after 0.");
    finds("1x1 Hx2Mesh", 1, add_a_block,
          "hxmesh: error: a0,0/p0/E: VC 1: credit 321 + in flight 0 + held at the far end 0 blocks");
}

/* The row network of line 0 is another worker's: seen at the end. */
static void a_block_between_workers(void **state)
{
    (void)state;
    finds("4x1 Hx1Mesh", 2, take_a_block,
          "hxmesh: error: a0,0/p0/E: VC 1: credit 319 + held at the far end 0 blocks are not the 320 of its "
          "buffer, at "
          "the end");
}

static void positions_out_of_order(void **state)
{
    (void)state;
    finds("1x1 Hx2Mesh", 1, confuse_positions,
          "hxmesh: error: a0,0/p0/S: VC 2: tail 0, at the switch 0; beyond it seen 0, "
          "ready 1, head 0: out of order");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_step_of_random_runs),
        cmocka_unit_test(a_block_inside_a_worker),
        cmocka_unit_test(a_block_between_workers),
        cmocka_unit_test(positions_out_of_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
