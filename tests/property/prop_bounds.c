/* prop_bounds.c - figures of random fabrics of every topology: by the topology's own formulas, and by search over the
 * graph of its edge list, which knows only nodes and links. HX_SEED chooses other fabrics. */
#include "tests/support/support_effort.h"
#include "tests/support/support_fabric.h"
#include "tests/support/support_file.h"
#include "tests/support/support_seed.h"
#include "tests/support/support_specs.h"
#include "tools/info/graph_text.h"
#include "topology/bisection.h"
#include "topology/bounds.h"

#include <math.h>

enum { FABRICS = 300, MOST_HOSTS = 80 };

static void are_near(const char *spec, const char *what, double own, double of_graph, double tolerance)
{
    if (fabs(own - of_graph) > tolerance * fmax(fabs(own), fabs(of_graph)))
        fail_msg("%s: %s %.9g, of its edges %.9g", spec, what, own, of_graph);
}

/* The search for a bound ends when it is 0.1 % too high at most. A Dragonfly's packets take other paths than all
 * minimal ones. */
static void compare(const char *spec, const struct hx_fabric *f, const struct hx_fabric *graph)
{
    struct hx_distances own = hx_fabric_distances(f);
    struct hx_distances of_graph = hx_fabric_distances(graph);
    assert_int_equal(graph->hosts, f->hosts);
    are_near(spec, "injection", hx_fabric_injection(f, HX_LINK_GBPS), hx_fabric_injection(graph, HX_LINK_GBPS), 1e-9);
    are_near(spec, "bisection", hx_fabric_bisection(f).share, hx_fabric_bisection(graph).share, 1e-9);
    if (f->topology->paths)
        return;
    are_near(spec, "diameter", own.router_diameter, of_graph.router_diameter, 0);
    are_near(spec, "distance", own.average - own.diameter, of_graph.average - of_graph.diameter, 1e-9);
    are_near(spec, "all-to-all", hx_fabric_alltoall_bound(f), hx_fabric_alltoall_bound(graph), 0.001);
}

static void compare_with_its_edges(const char *spec, const struct hx_fabric *f)
{
    char of_graph[FILE_PATH_BYTES + 8];
    struct hx_fabric graph;
    graph_text_edges(f, spec, file_path("edges.csv"));
    snprintf(of_graph, sizeof of_graph, "graph %s", file_path("edges.csv"));
    fabric_make(&graph, of_graph);
    compare(spec, f, &graph);
    hx_fabric_free(&graph);
}

static void a_fabric_and_its_edges_agree(void **state)
{
    (void)state;
    specs_each(effort(FABRICS), MOST_HOSTS, compare_with_its_edges);
}

/* The halves that a search finds are as good as those of the formula. */
static void compare_halves(const char *spec, const struct hx_fabric *f)
{
    are_near(spec, "halves", hx_bisection_search(f, NULL, NULL).share, hx_fabric_bisection(f).share, 1e-9);
}

static void halves_are_those_of_the_formula(void **state)
{
    (void)state;
    specs_each(effort(FABRICS), 4 * MOST_HOSTS, compare_halves);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_fabric_and_its_edges_agree, seeded_report),
        cmocka_unit_test_teardown(halves_are_those_of_the_formula, seeded_report),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
