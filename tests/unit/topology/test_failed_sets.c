/* test_failed_sets.c - sets of failed links: a cycle, a pair without a path, and a dead end are found and named; whole
 * fabrics stay good. tests/system/failures_oracle.py counts the same in another way. */
#include "base/subsets.h"
#include "tools/paths/failed_sets.h"
#include "topology/name.h"
#include "topology/updown.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void make(struct hx_spec *spec, const char *text)
{
    struct hx_problem problem;
    if (!hx_spec_parse(text, spec, &problem) || !hx_spec_build(spec, &problem))
        fail_msg("%s: %s", text, problem.what);
    if (spec->graph->mesh.nodes)
        hx_spec_add_escape_vc(spec);
    else if (!hx_spec_search_updown(spec, &problem))
        fail_msg("%s: %s", text, problem.what);
}

static struct hx_failed_sets try(struct hx_spec *spec, uint64_t failed, uint64_t most)
{
    struct hx_progress quiet = hx_progress_start("", true);
    struct hx_failed_sets f =
        hx_failed_sets_try(spec, &(struct hx_failed_ask){.failed = failed, .most = most, .seed = 1}, &quiet);
    hx_progress_end(&quiet);
    return f;
}

static void single_links_of_small_fabrics_do_no_harm(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t links;
    } fabrics[] = {{"3x3 Hx1Mesh", 36},
                   {"2x2 H2x1Mesh", 28},
                   {"2x3 Hx2Mesh", 72},
                   {"torus 3x3", 18},
                   {"fat-tree hosts=8 radix=4", 16},
                   {"dragonfly a=2 p=1 h=1", 12}};
    for (unsigned i = 0; i < sizeof fabrics / sizeof *fabrics; i++) {
        struct hx_spec spec;
        make(&spec, fabrics[i].text);
        struct hx_failed_sets f = try(&spec, 1, 100);
        assert_int_equal(f.links, fabrics[i].links);
        assert_int_equal(f.sets, f.links);
        assert_true(f.all && hx_failed_sets_good(&f));
        assert_true(f.worst > 0 && f.worst <= f.mean && f.mean <= f.healthy);
        assert_int_equal(f.pairs + f.apart.count, f.sets * spec.graph->hosts * (spec.graph->hosts - 1));
        hx_spec_free(&spec);
    }
}

/* All routers have the same rank: no packet turns to another VC. */
static void routes_without_an_order_have_cycles(void **state)
{
    (void)state;
    struct hx_spec spec;
    make(&spec, "torus 4x3");
    memset(spec.graph->updown->rank, 0, spec.graph->updown->routers * sizeof *spec.graph->updown->rank);
    struct hx_failed_sets f = try(&spec, 1, 100);
    assert_int_equal(f.cyclic, f.sets);
    assert_int_equal(f.cyclic_set.count, 1);
    assert_true(f.mixed_cyclic && !hx_failed_sets_good(&f));
    hx_spec_free(&spec);
}

static bool lives(const struct hx_failed_set *set, const struct hx_fabric *g, uint32_t node, unsigned port)
{
    for (uint32_t i = 0; i < set->count; i++) {
        const struct hx_end near = set->link[i];
        const struct hx_end far = hx_fabric_far(g, near.node, near.port);
        if ((near.node == node && near.port == port) || (far.node == node && far.port == port))
            return false;
    }
    return true;
}

static void spread(const struct hx_failed_set *set, const struct hx_fabric *g, uint32_t node, bool *reached)
{
    reached[node] = true;
    for (unsigned port = 0; port < hx_fabric_ports(g, node); port++) {
        const uint32_t far = hx_fabric_far(g, node, port).node;
        if (far != HX_NOWHERE && !reached[far] && lives(set, g, node, port))
            spread(set, g, far, reached);
    }
}

/* Sixteen dead links of a narrow mesh may leave only paths that turn more often than the VCs allow. */
static void a_joined_pair_without_a_path_is_named(void **state)
{
    (void)state;
    struct hx_spec spec;
    make(&spec, "mesh 20x3");
    struct hx_failed_sets f = try(&spec, 16, 200);
    assert_true(f.without.count > 0 && !f.all && f.sets == 200 && !hx_failed_sets_good(&f));
    assert_int_equal(f.cyclic, 0);
    assert_false(f.mixed_cyclic);
    const struct hx_pair p = f.without.first;
    bool *reached = calloc(spec.graph->nodes, sizeof *reached);
    assert_non_null(reached);
    spread(&f.without.set, spec.graph, hx_host_at(spec.graph, p.from.addr_hi, p.from.addr_lo), reached);
    assert_true(reached[hx_host_at(spec.graph, p.to.addr_hi, p.to.addr_lo)]);
    free(reached);
    hx_spec_free(&spec);
}

/* ---- chosen sets ---- */

/* Follows all packets of a HammingMesh without some links. */
static struct hx_findings without(struct hx_spec *spec, const struct hx_end *links, uint32_t count, bool *cyclic)
{
    struct hx_broken broken;
    struct hx_plane plane;
    struct hx_channels channels;
    uint32_t *cycle;
    struct hx_progress quiet = hx_progress_start("", true);
    hx_broken_init(&broken, spec);
    hx_broken_take(&broken, links, count);
    hx_plane_init(&plane, spec);
    plane.broken = &broken;
    hx_channels_init(&channels, &plane);
    struct hx_findings found = hx_explore(&plane, &channels, &quiet);
    *cyclic = hx_channels_cycle(&channels, &cycle) != 0;
    free(cycle);
    hx_channels_free(&channels);
    hx_plane_free(&plane);
    hx_broken_free(&broken);
    hx_progress_end(&quiet);
    return found;
}

/* A board without a network, and with dead traces, has an order of its own on the escape VC. */
static void a_board_alone_keeps_its_pairs(void **state)
{
    (void)state;
    struct hx_spec spec;
    make(&spec, "1x1 Hx6Mesh");
    const struct hx_fabric *g = spec.graph;
    enum { EDGES = 24, TRACES = 60, DEAD = 16 };
    struct hx_end dead[EDGES + DEAD];
    struct hx_end trace[TRACES] = {{0}};
    uint32_t edges = 0;
    uint32_t traces = 0;
    for (uint32_t node = 0; node < g->hosts; node++) {
        for (unsigned port = 0; port < HX_LOCAL; port++) {
            if (hx_fabric_far(g, node, port).node >= g->hosts)
                dead[edges++] = (struct hx_end){node, (uint16_t)port};
            else if (hx_fabric_is_first_end(g, node, port))
                trace[traces++] = (struct hx_end){node, (uint16_t)port};
        }
    }
    assert_int_equal(edges, EDGES);
    assert_int_equal(traces, TRACES);
    struct hx_subsets sets = hx_subsets_open(traces, DEAD, 100, 1);
    while (hx_subsets_next(&sets)) {
        bool cyclic;
        for (unsigned i = 0; i < DEAD; i++)
            dead[edges + i] = trace[sets.member[i]];
        struct hx_findings found = without(&spec, dead, edges + DEAD, &cyclic);
        if (cyclic || found.unreachable || found.trapped)
            fail_msg("trace %u and others: cyclic %d, %u without a path, %u trapped", sets.member[0], cyclic,
                     (unsigned)found.unreachable, (unsigned)found.trapped);
    }
    hx_subsets_close(&sets);
    hx_spec_free(&spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_links_of_small_fabrics_do_no_harm),
        cmocka_unit_test(routes_without_an_order_have_cycles),
        cmocka_unit_test(a_joined_pair_without_a_path_is_named),
        cmocka_unit_test(a_board_alone_keeps_its_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
