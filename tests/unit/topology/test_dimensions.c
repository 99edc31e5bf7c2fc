/* test_dimensions.c - fabrics of mixed dimensions: counts, rates, distances and bounds of grids by formula, routes
 * and refusals. */
#include "tests/support/support_fabric.h"
#include "topology/bisection.h"
#include "topology/bounds.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static unsigned steps(char kind, unsigned side, unsigned a, unsigned b)
{
    unsigned clockwise = (b + side - a) % side;
    if (kind == 'r')
        return clockwise < side - clockwise ? clockwise : side - clockwise;
    if (a == b)
        return 0;
    return kind == 'f' ? 1 : 2;
}

struct shape {
    const char *text;
    const char *kinds; /* r, f, s for each dimension */
    unsigned side[5];
    unsigned vcs, ports;
};

static unsigned expected(const struct shape *s, uint32_t a, uint32_t b)
{
    unsigned links = 2;
    for (unsigned i = 0; s->kinds[i]; i++) {
        links += steps(s->kinds[i], s->side[i], a % s->side[i], b % s->side[i]);
        a /= s->side[i];
        b /= s->side[i];
    }
    return links;
}

static void validate(const struct shape *s)
{
    struct hx_fabric f;
    fabric_make(&f, s->text);
    struct fabric_findings found = fabric_validate(&f);
    uint64_t sum = 0;
    for (uint32_t from = 0; from < f.hosts; from++) {
        assert_int_equal(hx_fabric_ports(&f, f.hosts + from), s->ports);
        for (uint32_t to = 0; to < f.hosts; to++) {
            sum += from == to ? 0 : expected(s, from, to);
            assert_int_equal(f.topology->distance(&f, from, to), from == to ? 0 : expected(s, from, to));
        }
    }
    assert_int_equal(found.distances, sum);
    assert_int_equal(f.vcs, s->vcs);
    hx_fabric_free(&f);
}

static void test_paths_of_all_kinds(void **state)
{
    static const struct shape shapes[] = {
        {"Ring(4)_FC(3)_Switch(5)", "rfs", {4, 3, 5}, 2, 6},
        {"Switch(6)", "s", {6}, 1, 2},
        {"fc(7)", "f", {7}, 1, 7},
        {"RING(9)", "r", {9}, 2, 3},
        {"Ring(3)_Ring(4)_Ring(5)", "rrr", {3, 4, 5}, 2, 7},
        {"Switch(4)_Switch(4)_Switch(4)", "sss", {4, 4, 4}, 1, 4},
        {"Switch(3)_Ring(4)_FC(2)_Ring(2)_Switch(2)", "srffs", {3, 4, 2, 2, 2}, 2, 7},
        {"Ring(2)_Ring(2)", "ff", {2, 2}, 1, 3},
    };
    (void)state;
    for (unsigned i = 0; i < sizeof shapes / sizeof *shapes; i++)
        validate(&shapes[i]);
}

static void test_rates_and_cables(void **state)
{
    struct hx_fabric f;
    (void)state;
    fabric_make(&f, "Ring(4)_FC(8)_Switch(32) gbps=400,200,100");
    assert_int_equal(f.hosts, 1024);
    assert_int_equal(f.nodes, 2048 + 32);
    assert_int_equal(f.switches, 32);
    assert_int_equal(hx_fabric_link(&f, 0, HX_E)->gbps, 2 * 400 + 7 * 200 + 100);
    assert_int_equal(fabric_cables(&f, HX_TRACE), 1024);
    assert_int_equal(fabric_cables(&f, HX_DAC), 1024);                          /* rings */
    assert_int_equal(fabric_cables(&f, HX_AOC), 1024 / 8 * (8 * 7 / 2) + 1024); /* pairs, and to switches */
    static const unsigned gbps[3] = {400, 200, 100};
    for (uint32_t port = 0; port < f.ports; port++) {
        const struct hx_link_class *c = &f.link_class[f.port[port].link_class];
        if (f.port[port].far.node != HX_NOWHERE && c->kind != HX_TRACE)
            assert_int_equal(c->gbps, gbps[f.port[port].dimension]);
    }
    assert_int_equal(fabric_validate_some(&f, 173).diameter, 2 + 2 + 1 + 2);
    /* The switch dimension is the bottleneck: 100 Gb/s for 31 of 32 of the injected traffic. */
    double bound = f.topology->alltoall_bound(&f);
    double by_hand = 100.0 / (2300.0 * 31 / 32 * 1024 / 1023);
    assert_true(bound > by_hand - 1e-9 && bound < by_hand + 1e-9);
    hx_fabric_free(&f);
}

/* A ring of two has one cable, as FC(2): in rates, cables, bounds and VCs. */
static void test_rings_of_two_are_fully_connected(void **state)
{
    static const char *const specs[][2] = {{"Ring(2)", "FC(2)"},
                                           {"Ring(2)_Switch(3)", "FC(2)_Switch(3)"},
                                           {"Ring(4)_Ring(2) gbps=100,400", "Ring(4)_FC(2) gbps=100,400"}};
    (void)state;
    for (unsigned i = 0; i < sizeof specs / sizeof *specs; i++) {
        struct hx_fabric ring, full;
        fabric_make(&ring, specs[i][0]);
        fabric_make(&full, specs[i][1]);
        assert_int_equal(ring.vcs, full.vcs);
        assert_int_equal(ring.host_links, full.host_links);
        assert_int_equal(ring.ports, full.ports);
        for (unsigned kind = 0; kind < HX_LINK_KINDS; kind++)
            assert_int_equal(fabric_cables(&ring, kind), fabric_cables(&full, kind));
        assert_true(hx_fabric_alltoall_bound(&ring) == hx_fabric_alltoall_bound(&full));
        assert_int_equal(hx_fabric_bisection(&ring).links, hx_fabric_bisection(&full).links);
        hx_fabric_free(&ring);
        hx_fabric_free(&full);
    }
}

static void test_many_npus(void **state)
{
    struct hx_fabric f;
    (void)state;
    fabric_make(&f, "Ring(16)_FC(16)_Switch(64) gbps=200");
    assert_int_equal(f.hosts, 16384);
    assert_int_equal(f.digits[0], 256);
    assert_int_equal(f.digits[1], 64);
    assert_int_equal(fabric_validate_some(&f, 5003).diameter, 8 + 1 + 2 + 2);
    hx_fabric_free(&f);
}

/* The formula against the fullest link of the tables: both directions of a ring, and all orders, are equal here.
 * Also in tori with odd sides. If both directions are equally long and another dimension must go down first, tables
 * offer the one down more often, so the load is not even. For such grids the formula is compared with rings in
 * order. */
static void test_bounds_by_formula_and_by_loads(void **state)
{
    static const char *const specs[] = {"torus 9",
                                        "torus 3x5x5",
                                        "torus 5x3x3x5",
                                        "Ring(4)_Ring(3)_Ring(5)",
                                        "Ring(4)_Ring(4)_Ring(4)_Ring(2)",
                                        "mesh 4x3x5",
                                        "hyperx 8x8 p=16",
                                        "hyperx 3x2x4x3 p=2",
                                        "Ring(4)_FC(3)_Switch(5)",
                                        "Ring(4)_FC(8)_Switch(32) gbps=400,200,100",
                                        "Switch(3)_Ring(8) gbps=100"};
    (void)state;
    for (unsigned i = 0; i < sizeof specs / sizeof *specs; i++) {
        struct hx_fabric f;
        fabric_make(&f, specs[i]);
        struct hx_topology without = *f.topology;
        double by_formula = hx_fabric_alltoall_bound(&f);
        without.alltoall_bound = NULL;
        f.topology = &without;
        double by_loads = hx_fabric_alltoall_bound(&f);
        assert_true(by_formula > by_loads - 1e-9 && by_formula < by_loads + 1e-9);
        hx_fabric_free(&f);
    }
}

/* Sums dimension by dimension against sums over all pairs. */
static void test_distances_by_sums_and_by_pairs(void **state)
{
    static const char *const specs[] = {"torus 9",  "torus 4x3x5",    "torus 8x5 board=2x5",    "mesh 4x3x5",
                                        "mesh 7x2", "hyperx 4x5 p=3", "Ring(4)_FC(3)_Switch(5)"};
    (void)state;
    for (unsigned i = 0; i < sizeof specs / sizeof *specs; i++) {
        struct hx_fabric f;
        fabric_make(&f, specs[i]);
        struct hx_distances by_sums = hx_fabric_distances(&f);
        struct hx_topology without = *f.topology;
        without.distances = NULL;
        f.topology = &without;
        struct hx_distances by_pairs = hx_fabric_distances(&f);
        assert_int_equal(by_sums.diameter, by_pairs.diameter);
        assert_int_equal(by_sums.router_diameter, by_pairs.router_diameter);
        assert_true(by_sums.average > by_pairs.average - 1e-9 && by_sums.average < by_pairs.average + 1e-9);
        hx_fabric_free(&f);
    }
}

/* Without rates in a spec, links have those of the run, and the trace to a host has their sum. */
static void test_rates_scale_with_those_of_a_link(void **state)
{
    struct hx_fabric f;
    (void)state;
    fabric_make(&f, "Ring(4)_FC(3)_Switch(5)");
    assert_int_equal(hx_class_gbps(hx_fabric_link(&f, f.hosts, 1), 800), 800);
    assert_int_equal(hx_class_gbps(hx_fabric_link(&f, 0, HX_E), 800), 5 * 800);
    assert_int_equal(hx_fabric_injection(&f, 800), 5);
    hx_fabric_free(&f);
    fabric_make(&f, "Ring(4)_FC(3)_Switch(5) gbps=200");
    assert_int_equal(hx_class_gbps(hx_fabric_link(&f, f.hosts, 1), 800), 200);
    assert_int_equal(hx_class_gbps(hx_fabric_link(&f, 0, HX_E), 800), 5 * 200);
    assert_true(hx_fabric_injection(&f, 800) == 1.25);
    hx_fabric_free(&f);
}

/* A latency of all dimensions, or one of each; without it that of a cable. The trace to a host has its own. */
static void test_latencies_of_dimensions(void **state)
{
    struct hx_fabric f;
    (void)state;
    fabric_make(&f, "Ring(4)_FC(3)");
    assert_int_equal(hx_fabric_link(&f, f.hosts, 1)->latency_ns, HX_LATENCY_OF_KIND);
    hx_fabric_free(&f);
    fabric_make(&f, "Ring(4)_FC(3) ns=70");
    assert_int_equal(hx_fabric_link(&f, f.hosts, 1)->latency_ns, 70);
    assert_int_equal(hx_fabric_link(&f, f.hosts, 3)->latency_ns, 70);
    assert_int_equal(hx_fabric_link(&f, 0, HX_E)->latency_ns, HX_LATENCY_OF_KIND);
    hx_fabric_free(&f);
    fabric_make(&f, "Ring(4)_FC(3) ns=500,9 gbps=100,200");
    unsigned links[2] = {0, 0};
    for (unsigned port = 0; port < hx_fabric_ports(&f, f.hosts); port++) {
        const struct hx_link_class *c = hx_fabric_link(&f, f.hosts, port);
        links[0] += c->latency_ns == 500 && c->gbps == 100;
        links[1] += c->latency_ns == 9 && c->gbps == 200;
    }
    assert_int_equal(links[0], 2);
    assert_int_equal(links[1], 2);
    hx_fabric_free(&f);
}

static void test_impossible_arguments_are_refused(void **state)
{
    (void)state;
    fabric_refused("ring(4)_foo(3)", "write Ring(K), FC(K) and Switch(K), joined by '_'");
    fabric_refused("ring(4)fc(3)", "joined by '_'");
    fabric_refused("ring(4", "joined by '_'");
    fabric_refused("ring()", "joined by '_'");
    fabric_refused("ring(4)_", "joined by '_'");
    fabric_refused("ring(1)", "a dimension of 1: 2 to 65535");
    fabric_refused("switch(65)", "a dimension of 65: 2 to 64");
    fabric_refused("fc(40)_fc(30)", "an NPU would have 69 ports");
    fabric_refused("ring(1025)_ring(1024)", "more than 1048576 hosts");
    fabric_refused("ring(2)_ring(2)_ring(2)_ring(2)_ring(2)_ring(2)", "more than 5 dimensions");
    fabric_refused("ring(4)_fc(3) gbps=400,200,100", "one number, or 2 joined by commas");
    fabric_refused("ring(4) gbps=0", "1 to 100000 are possible");
    fabric_refused("ring(4) gbps=fast", "one number, or 1 joined");
    fabric_refused("ring(4)_fc(3) ns=1,2,3", "ns=1,2,3: one number, or 2 joined by commas");
    fabric_refused("ring(4) ns=0", "ns=0: 1 to 1000000 are possible");
    fabric_refused("ring(4) 8x8", "sizes where none is expected");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths_of_all_kinds),
        cmocka_unit_test(test_rates_and_cables),
        cmocka_unit_test(test_rings_of_two_are_fully_connected),
        cmocka_unit_test(test_many_npus),
        cmocka_unit_test(test_bounds_by_formula_and_by_loads),
        cmocka_unit_test(test_distances_by_sums_and_by_pairs),
        cmocka_unit_test(test_rates_scale_with_those_of_a_link),
        cmocka_unit_test(test_latencies_of_dimensions),
        cmocka_unit_test(test_impossible_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
