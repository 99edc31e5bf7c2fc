/* test_capture_graph.c - paths that the verifier finds by search in a graph. Every hop of the routing tables is on
 * one, with its hop count and VC. Paths are as long as the topology says, and never step back. */
#include "tools/capture/fabric.h"

#include "topology/bounds.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const fabrics[] = {"fat-tree hosts=16 radix=8",
                                      "torus 4x3",
                                      "torus 2x5",
                                      "mesh 3x3",
                                      "torus 4x3x2",
                                      "hyperx 3x3 p=2",
                                      "hyperx 2x2x2x2 p=1",
                                      "dragonfly a=4 p=1 h=2 groups=4",
                                      "dragonfly a=2 p=2 h=3 groups=2",
                                      "dragonfly a=3 p=2 h=1 groups=1",
                                      "slim-fly q=3 p=1",
                                      "mlfm h=2",
                                      "oft k=3",
                                      "bigraph m=2 n=4",
                                      "kautz degree=2 length=3 p=1",
                                      "Ring(4)_FC(3)_Switch(2)"};
enum { FABRICS = sizeof fabrics / sizeof *fabrics, NO_LEG = 99 };

/* A packet at a node, with its input. */
struct walk {
    struct hx_cap_fabric *f;
    struct hx_route *route; /* [nodes] */
    struct hx_journey journey;
    uint64_t steps;
};

static void open_fabric(struct hx_cap_fabric *f, const char *text)
{
    struct hx_spec spec = {.failed = NULL};
    struct hx_problem problem;
    const struct hx_capture_facts facts = {.link = HX_CAPTURE_WIRE};
    if (!hx_spec_parse(text, &spec, &problem) || !hx_spec_build(&spec, &problem))
        fail_msg("%s: %s", text, problem.what);
    hx_cap_fabric_init(f, &spec, &facts, true);
}

static struct hx_route *open_routes(const struct hx_fabric *g)
{
    struct hx_route *route = hx_allocate(g->nodes, sizeof *route);
    for (uint32_t node = 0; node < g->nodes; node++)
        hx_fabric_route(&route[node], g, node, (struct hx_blocked_boards){NULL}, UINT64_MAX,
                        hx_allocate(1, hx_fabric_route_bytes(g, node)));
    return route;
}

static void close_routes(struct hx_route *route, uint32_t nodes)
{
    for (uint32_t node = 0; node < nodes; node++)
        free(route[node].is_router ? (void *)route[node].addr_hi_ports : (void *)route[node].x_table);
    free(route);
}

static void arrive(struct walk *w, unsigned vc, unsigned hops)
{
    struct hx_leg leg = {NO_LEG, NO_LEG, NO_LEG, NO_LEG};
    assert_true(hx_cap_leg_to(w->f, w->journey, w->journey.destination, &leg));
    assert_in_range(hops, leg.least_cables, leg.most_cables);
    assert_in_range(vc, leg.least_vc, leg.most_vc);
}

static void step(struct walk *w, uint32_t node, unsigned input, unsigned vc, unsigned hops);

static void take_port(struct walk *w, struct hx_end in, unsigned vc, unsigned port, unsigned hops)
{
    const struct hx_fabric *g = w->f->g;
    char name[HX_NAME_BYTES];
    struct hx_port_at out = {.node = HX_NOWHERE};
    assert_true(hx_cap_port(w->f, hx_port_name(name, g, 0, in.node, port), &out));
    struct hx_leg leg = {NO_LEG, NO_LEG, NO_LEG, NO_LEG};
    if (!hx_cap_leg(w->f, w->journey, &out, &leg))
        fail_msg("%s: %s is on no path from host %u to %u", w->f->spec.fabric, name, w->journey.source,
                 w->journey.destination);
    unsigned next = hx_route_vc(&w->route[in.node], in.port, vc, port);
    const struct hx_port_at from = {.node = in.node, .port = in.port, .spot = out.spot};
    if (hx_cap_vc(w->f, &from, vc, &out) != next)
        fail_msg("%s: %s: VC %u, not %u", w->f->spec.fabric, name, hx_cap_vc(w->f, &from, vc, &out), next);
    assert_in_range(next, leg.least_vc, leg.most_vc);
    assert_in_range(hops + 1, leg.least_cables, leg.most_cables);
    struct hx_port_at far = hx_cap_far(w->f, &out);
    if (hx_cap_leg(w->f, w->journey, &far, &leg))
        fail_msg("%s: back over %s is on a path from host %u to %u", w->f->spec.fabric, name, w->journey.source,
                 w->journey.destination);
    step(w, far.node, far.port, next, hops + 1);
}

static void step(struct walk *w, uint32_t node, unsigned input, unsigned vc, unsigned hops)
{
    const struct hx_fabric_node *to = &w->f->g->node[w->journey.destination];
    w->steps++;
    if (node == w->journey.destination) {
        arrive(w, vc, hops);
        return;
    }
    uint64_t ports = hx_route_candidates(&w->route[node], input, vc, to->addr_hi, to->addr_lo);
    assert_true(ports != 0);
    for (; ports; ports &= ports - 1)
        take_port(w, (struct hx_end){node, (uint16_t)input}, vc, (unsigned)__builtin_ctzll(ports), hops);
}

static void every_step_of_the_tables_is_on_a_path(void **state)
{
    (void)state;
    for (unsigned i = 0; i < FABRICS; i++) {
        struct hx_cap_fabric f;
        open_fabric(&f, fabrics[i]);
        struct walk w = {.f = &f, .route = open_routes(f.g)};
        for (uint32_t from = 0; from < f.g->hosts; from++)
            for (uint32_t to = 0; to < f.g->hosts; to++) {
                w.journey = (struct hx_journey){from, to, 0};
                if (from != to)
                    step(&w, from, HX_LOCAL, 0, 0);
            }
        assert_true(w.steps > f.g->hosts);
        close_routes(w.route, f.g->nodes);
        hx_cap_fabric_free(&f);
    }
}

static void minimal_paths_are_as_long_as_the_topology_says(void **state)
{
    (void)state;
    for (unsigned i = 0; i < FABRICS; i++) {
        struct hx_cap_fabric f;
        open_fabric(&f, fabrics[i]);
        for (uint32_t from = 0; from < f.g->hosts; from++)
            for (uint32_t to = 0; to < f.g->hosts; to++) {
                struct hx_leg leg;
                assert_true(hx_cap_leg_to(&f, (struct hx_journey){from, to, 0}, to, &leg));
                if (leg.least_cables != hx_fabric_distance(f.g, from, to))
                    fail_msg("%s: host %u to %u: %u cables, not %u", fabrics[i], from, to, leg.least_cables,
                             hx_fabric_distance(f.g, from, to));
                assert_true(leg.most_vc < f.g->vcs);
                assert_false(hx_cap_leg_to(&f, (struct hx_journey){from, to, 0}, (to + 1) % f.g->hosts, &leg));
            }
        hx_cap_fabric_free(&f);
    }
}

/* A longer path with one global cable is allowed; one with two, or with two local cables in a row, is not. */
static void a_dragonfly_has_paths_that_are_not_minimal(void **state)
{
    (void)state;
    struct hx_cap_fabric f;
    open_fabric(&f, "dragonfly a=4 p=1 h=2 groups=4");
    unsigned longer = 0;
    for (uint32_t from = 0; from < f.g->hosts; from++)
        for (uint32_t to = 0; to < f.g->hosts; to++) {
            struct hx_leg leg;
            assert_true(hx_cap_leg_to(&f, (struct hx_journey){from, to, 0}, to, &leg));
            longer += leg.most_cables > leg.least_cables;
            assert_true(leg.most_cables <= 5);
            bool same_group = from / 4 == to / 4;
            assert_int_equal(leg.least_vc, !same_group);
            assert_int_equal(leg.most_vc, !same_group);
        }
    assert_true(longer > 0);
    hx_cap_fabric_free(&f);
}

static void cables_that_lead_elsewhere_are_on_no_path(void **state)
{
    (void)state;
    struct hx_cap_fabric f;
    open_fabric(&f, "fat-tree hosts=16 radix=8");
    const struct {
        const char *port, *from, *to;
        bool on_a_path;
    } cables[] = {
        {"a0,0/p0/E", "a0,0/p0/E", "a1,0/p0/E", true},   {"a0,1/p0/E", "a0,0/p0/E", "a1,0/p0/E", false},
        {"leaf0/p0/0", "a0,1/p0/E", "a0,0/p0/E", true},  {"leaf0/p0/4", "a0,1/p0/E", "a0,0/p0/E", false},
        {"leaf0/p0/4", "a0,0/p0/E", "a1,0/p0/E", true},  {"leaf2/p0/4", "a0,0/p0/E", "a1,0/p0/E", false},
        {"leaf1/p0/0", "a0,0/p0/E", "a1,0/p0/E", true},  {"leaf1/p0/1", "a0,0/p0/E", "a1,0/p0/E", false},
        {"leaf1/p0/4", "a0,0/p0/E", "a1,0/p0/E", false}, {"leaf0/p0/0", "a0,0/p0/E", "a0,0/p0/E", false},
    };
    for (unsigned i = 0; i < sizeof cables / sizeof *cables; i++) {
        struct hx_port_at at = {.node = HX_NOWHERE};
        struct hx_port_at from = at;
        struct hx_port_at to = at;
        struct hx_leg leg;
        assert_true(hx_cap_port(&f, cables[i].port, &at) && hx_cap_port(&f, cables[i].from, &from) &&
                    hx_cap_port(&f, cables[i].to, &to));
        if (hx_cap_leg(&f, (struct hx_journey){from.node, to.node, 0}, &at, &leg) != cables[i].on_a_path)
            fail_msg("%s, from %s to %s", cables[i].port, cables[i].from, cables[i].to);
    }
    hx_cap_fabric_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_step_of_the_tables_is_on_a_path),
        cmocka_unit_test(minimal_paths_are_as_long_as_the_topology_says),
        cmocka_unit_test(a_dragonfly_has_paths_that_are_not_minimal),
        cmocka_unit_test(cables_that_lead_elsewhere_are_on_no_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
