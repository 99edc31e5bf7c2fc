/* test_transitions.c - hx_transitions_try() finds no cycle if old and new tables keep one order of routers, and
 * finds one if not. With an invalid order there is no VC increment, and paths form dependency cycles. */
#include "spec/circuits/circuits.h"
#include "tools/paths/transitions.h"
#include "topology/updown.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void make(struct hx_spec *spec, const char *text)
{
    struct hx_problem problem;
    if (!hx_spec_parse(text, spec, &problem) || !hx_spec_build(spec, &problem) ||
        !hx_spec_search_updown(spec, &problem))
        fail_msg("%s: %s", text, problem.what);
}

static struct hx_transitions try(struct hx_spec *spec)
{
    struct hx_progress quiet = hx_progress_start("", true);
    struct hx_transitions t = hx_transitions_try(spec, &quiet);
    hx_progress_end(&quiet);
    return t;
}

/* All routers have the same rank, so no step leads up, and no packet turns. */
static void forget_the_order(const struct hx_spec *spec)
{
    struct hx_updown *w = spec->graph->updown;
    memset(w->rank, 0, w->routers * sizeof *w->rank);
}

/* Old and new tables lead anywhere, and each keeps to the order. */
static void lead_anywhere(const struct hx_spec *spec)
{
    struct hx_updown *w = spec->graph->updown;
    for (size_t i = 0; i < (size_t)w->digits * w->routers; i++)
        w->ports[i] |= w->ports[(i + 1) % w->routers];
}

static void a_common_order_has_no_cycle(void **state)
{
    (void)state;
    static const char *const specs[] = {"torus 4x3", "hyperx 3x3 p=1", "dragonfly a=2 p=1 h=1"};
    for (unsigned i = 0; i < sizeof specs / sizeof *specs; i++) {
        struct hx_spec spec;
        make(&spec, specs[i]);
        struct hx_transitions t = try(&spec);
        assert_true(t.links > 0);
        assert_int_equal(t.cyclic, 0);
        lead_anywhere(&spec);
        assert_int_equal(try(&spec).cyclic, 0);
        hx_spec_free(&spec);
    }
}

static void paths_without_an_order_have_cycles(void **state)
{
    (void)state;
    struct hx_spec spec;
    make(&spec, "torus 4x3");
    forget_the_order(&spec);
    struct hx_transitions t = try(&spec);
    assert_int_equal(t.links, 24);
    assert_int_equal(t.cyclic, t.links);
    assert_true(t.node < spec.graph->nodes && hx_fabric_far(spec.graph, t.node, t.port).node != HX_NOWHERE);
    hx_spec_free(&spec);
}

/* Routers 0,0 to 1,0 and 2,0 to 3,0 change places with 0,0 to 0,1. */
static struct hx_plan_states try_plan(struct hx_spec *spec, bool ordered)
{
    static const char plan[] =
        "router0,0/1 closed at 1us for 2us; router2,0/1 closed at 1us; router0,0/3 closed at 3us";
    struct hx_faults faults = {.count = 0};
    struct hx_problem problem;
    assert_true(hx_faults_add(&faults, plan, NULL, spec->graph, &problem));
    if (ordered)
        assert_true(hx_circuits_order(spec->graph, &faults, &problem));
    struct hx_plan_states states = hx_plan_try(spec, &faults);
    hx_faults_free(&faults);
    return states;
}

static void states_of_a_plan_share_an_order(void **state)
{
    (void)state;
    struct hx_spec spec;
    make(&spec, "torus 4x3");
    struct hx_plan_states t = try_plan(&spec, true);
    assert_int_equal(t.states, 3); /* from 0, 1 us and 3 us on */
    assert_int_equal(t.cyclic, 0);
    assert_int_equal(t.unreachable, 0);
    forget_the_order(&spec);
    t = try_plan(&spec, false);
    assert_true(t.cyclic == 3 && t.at_ns == 0);
    hx_spec_free(&spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_common_order_has_no_cycle),
        cmocka_unit_test(paths_without_an_order_have_cycles),
        cmocka_unit_test(states_of_a_plan_share_an_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
