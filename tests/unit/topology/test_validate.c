/* test_validate.c - the fabric check (tests/support/support_fabric.h) finds errors: rings with one error each. */
#include "tests/support/support_fabric.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { SIDE = 5 };

/* Five routers in a ring, a host on each: at most two links to the right or left. */
static void link_ring(struct hx_fabric *f, const struct hx_topology *topology, enum hx_vc_rule rule)
{
    struct hx_problem problem;
    *f = (struct hx_fabric){.topology = topology, .planes = 1};
    hx_fabric_start(f, SIDE, SIDE, SIDE, 1);
    unsigned dac = hx_fabric_class_of_kind(f, "ring", HX_DAC);
    for (unsigned i = 0; i < SIDE; i++) {
        hx_fabric_address(f, i, i, 0);
        hx_fabric_address(f, SIDE + i, i, 0);
        f->node[i].group = f->node[SIDE + i].group = i;
        hx_fabric_add_link(f, &(struct hx_new_link){.a = i, .b = SIDE + i, .link_class = (uint8_t)dac});
    }
    for (unsigned i = 0; i < SIDE; i++)
        hx_fabric_add_link(
            f, &(struct hx_new_link){.a = SIDE + i, .b = SIDE + (i + 1) % SIDE, .link_class = (uint8_t)dac});
    f->groups = SIDE;
    f->rule = rule;
    f->vcs = rule == HX_VC_NEVER ? 1 : 2;
    assert_true(hx_fabric_finish(f, &problem));
}

static struct fabric_findings of_ring(const struct hx_topology *topology, enum hx_vc_rule rule)
{
    struct hx_fabric f;
    link_ring(&f, topology, rule);
    struct fabric_findings found = fabric_find(&f, 1);
    hx_fabric_free(&f);
    return found;
}

static const struct hx_topology plain = {.word = "ring"};

static void a_good_ring_is_good(void **state)
{
    (void)state;
    struct hx_fabric f;
    link_ring(&f, &plain, HX_VC_BY_HOP);
    struct fabric_findings found = fabric_validate(&f);
    assert_int_equal(found.pairs, 20);
    assert_int_equal(found.vcs, 2);
    assert_int_equal(found.diameter, 4);
    assert_int_equal(found.distances, 10 * 3 + 10 * 4);
    assert_int_equal(found.missing, 0);
    assert_int_equal(fabric_cables(&f, HX_DAC), 10);
    assert_int_equal(fabric_cables(&f, HX_AOC), 0);
    assert_int_equal(fabric_cost(&f), 5 * 14280 + 10 * 272);
    assert_int_equal(fabric_links_between(&f, SIDE, SIDE + 4), 1);
    assert_int_equal(fabric_links_between(&f, SIDE, SIDE + 2), 0);
    assert_int_equal(fabric_shortest_paths(&f, SIDE, SIDE + 2), 1);
    hx_fabric_free(&f);
}

static void a_dependency_cycle_is_found(void **state)
{
    (void)state;
    struct fabric_findings found = of_ring(&plain, HX_VC_NEVER);
    assert_int_equal(found.cycles, 10 + 5); /* links between routers, both directions, and those to hosts behind them */
    assert_int_equal(found.lost + found.detours + found.high_vcs + found.wrong_ends + found.missing, 0);
}

static void a_too_high_vc_is_found(void **state)
{
    (void)state;
    struct hx_fabric f;
    link_ring(&f, &plain, HX_VC_BY_HOP);
    f.vcs = 1;
    assert_int_equal(fabric_find(&f, 1).high_vcs, 10); /* the second hop of the ten pairs that have one */
    hx_fabric_free(&f);
}

/* Ports of a router: 0 its host, then the links in the order of their creation: first that to the right; router 0
 * has the one to the left last. */
static uint64_t next_hops_all(const struct hx_fabric *f, uint32_t node, unsigned digit, unsigned value)
{
    if (hx_is_host(f, node))
        return 1U << HX_E | 1U << HX_LOCAL;
    return digit == 0 && node - SIDE == value ? 1 : 6 | (digit == 1);
}

static void detours_are_found(void **state)
{
    (void)state;
    static const struct hx_topology round_about = {.word = "ring", .next_hops = next_hops_all};
    struct fabric_findings found = of_ring(&round_about, HX_VC_NEVER);
    assert_int_not_equal(found.detours, 0);
    assert_int_not_equal(found.cycles, 0);
    assert_int_equal(found.lost + found.missing, 0);
}

static uint64_t next_hops_none(const struct hx_fabric *f, uint32_t node, unsigned digit, unsigned value)
{
    return next_hops_all(f, node, digit, value) & (hx_is_host(f, node) ? UINT64_MAX : 1);
}

static void dead_ends_are_found(void **state)
{
    (void)state;
    static const struct hx_topology stuck = {.word = "ring", .next_hops = next_hops_none};
    struct fabric_findings found = of_ring(&stuck, HX_VC_NEVER);
    assert_int_equal(found.lost, SIDE * (SIDE - 1)); /* at the first router, for each destination */
    assert_int_equal(found.cycles, 0);
}

static uint64_t next_hops_host(const struct hx_fabric *f, uint32_t node, unsigned digit, unsigned value)
{
    return hx_is_host(f, node) ? next_hops_all(f, node, digit, value) : 1;
}

static void the_wrong_host_is_found(void **state)
{
    (void)state;
    static const struct hx_topology wrong = {.word = "ring", .next_hops = next_hops_host};
    struct fabric_findings found = of_ring(&wrong, HX_VC_NEVER);
    assert_int_equal(found.lost, SIDE * (SIDE - 1)); /* each source's packet returns to it */
    assert_int_not_equal(found.detours, 0);
}

static void wrong_ends_are_found(void **state)
{
    (void)state;
    struct hx_fabric f;
    link_ring(&f, &plain, HX_VC_BY_HOP);
    f.groups = SIDE - 1;
    assert_int_equal(fabric_find(&f, 1).wrong_ends, 2);
    f.groups = SIDE;
    f.node[3].addr_hi = 2;
    assert_int_equal(fabric_find(&f, 1).wrong_ends, 1);
    hx_fabric_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_ring_is_good),    cmocka_unit_test(a_dependency_cycle_is_found),
        cmocka_unit_test(a_too_high_vc_is_found), cmocka_unit_test(detours_are_found),
        cmocka_unit_test(dead_ends_are_found),    cmocka_unit_test(the_wrong_host_is_found),
        cmocka_unit_test(wrong_ends_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
