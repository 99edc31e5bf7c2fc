/* test_slim_fly.c - Slim Fly: routers, degree and diameter of every size, routes, prices and refusals. */
#include "tests/support/support_fabric.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* All sizes: q = 4w + d. */
static const struct size {
    unsigned q;
    int d;
} sizes[] = {
    {3, -1},  {4, 0},   {5, 1},  {7, -1},  {8, 0},  {9, 1},   {11, -1}, {13, 1}, {16, 0}, {17, 1},
    {19, -1}, {23, -1}, {25, 1}, {27, -1}, {29, 1}, {31, -1}, {32, 0},  {37, 1}, {41, 1},
};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void make(struct hx_fabric *f, unsigned q, unsigned p)
{
    char text[64];
    snprintf(text, sizeof text, "slim-fly q=%u p=%u", q, p);
    fabric_make(f, text);
}

/* Routers within two hops, by the far ends of ports. */
static uint32_t reached(const struct hx_fabric *f, uint32_t from, uint8_t *seen)
{
    uint32_t count = 0;
    for (unsigned port = 0; port < hx_fabric_ports(f, from); port++) {
        uint32_t far = hx_fabric_far(f, from, port).node;
        for (unsigned next = 0; !hx_is_host(f, far) && next < hx_fabric_ports(f, far); next++) {
            uint32_t end = hx_fabric_far(f, far, next).node;
            count += !hx_is_host(f, end) && !seen[end];
            seen[end] = 1;
        }
        count += !hx_is_host(f, far) && !seen[far];
        seen[far] = 1;
    }
    return count;
}

static void test_graphs_of_all_sizes(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SIZES; i++) {
        struct hx_fabric f;
        unsigned q = sizes[i].q;
        make(&f, q, 1);
        assert_int_equal(f.hosts, 2 * q * q);
        assert_int_equal(f.nodes, 4 * q * q);
        for (uint32_t router = f.hosts; router < f.nodes; router++)
            assert_int_equal(hx_fabric_ports(&f, router) - 1, (3 * (int)q - sizes[i].d) / 2);
        for (uint32_t router = f.hosts; router<f.nodes; router += q> 20 ? 97 : 1) {
            uint8_t *seen = hx_allocate(f.nodes, 1);
            assert_int_equal(reached(&f, router, seen), f.nodes - f.hosts); /* itself, back and forth */
            free(seen);
        }
        hx_fabric_free(&f);
    }
}

static void test_no_link_is_added_twice(void **state)
{
    struct hx_fabric f;
    (void)state;
    for (unsigned i = 0; i < SIZES && sizes[i].q <= 9; i++) {
        make(&f, sizes[i].q, 1);
        for (uint32_t a = f.hosts; a < f.nodes; a++) {
            assert_int_equal(fabric_links_between(&f, a, a), 0);
            for (uint32_t b = f.hosts; b < f.nodes; b++)
                assert_in_range(fabric_links_between(&f, a, b), 0, 1);
        }
        hx_fabric_free(&f);
    }
}

/* With five elements it is the graph of Hoffman and Singleton: 50 routers of 7 links and a single path of two hops
 * per pair. */
static void test_smallest_are_known_graphs(void **state)
{
    struct hx_fabric f;
    (void)state;
    make(&f, 5, 1);
    assert_int_equal(f.nodes - f.hosts, 50);
    for (uint32_t a = f.hosts; a < f.nodes; a++)
        for (uint32_t b = f.hosts; b < f.nodes; b++)
            assert_int_equal(fabric_shortest_paths(&f, a, b), 1);
    hx_fabric_free(&f);
}

static void test_routes(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SIZES && sizes[i].q <= 11; i++) {
        struct hx_fabric f;
        make(&f, sizes[i].q, 2);
        struct fabric_findings found = fabric_validate(&f);
        assert_int_equal(found.diameter, 4);
        assert_int_equal(found.missing, 0);
        for (uint32_t from = 0; from < f.hosts; from++)
            for (uint32_t to = 0; to < f.hosts; to++)
                found.distances -= f.topology->distance(&f, from, to);
        assert_int_equal(found.distances, 0);
        hx_fabric_free(&f);
    }
}

/* Kathareios et al., "Cost-Effective Diameter-Two Topologies: Analysis and Evaluation", SC15. */
static void test_slim_fly_of_3042_hosts(void **state)
{
    struct hx_fabric f;
    (void)state;
    fabric_make(&f, "slim-fly q=13"); /* p=9: half of 19 links */
    assert_int_equal(f.nodes - f.hosts, 338);
    assert_int_equal(f.hosts, 3042);
    assert_int_equal(f.switches, 338);
    assert_int_equal(f.columns, 78);
    assert_int_equal(f.rows, 39);
    /* In a rack: hosts, 6 links of each router to its line, and 13 from one line to the other. */
    assert_int_equal(fabric_cables(&f, HX_DAC), 3042 + 338 * 6 / 2 + 13 * 13);
    assert_int_equal(fabric_cables(&f, HX_AOC), 13 * 12 * 13);
    assert_int_equal(fabric_validate_some(&f, 211).missing, 0);
    hx_fabric_free(&f);
    make(&f, 13, 10);
    assert_int_equal(f.hosts, 3380);
    hx_fabric_free(&f);
}

/* The layout of SC14: a rack has a line of either half, (0, r, *) and (1, r, *), and 2 q cables to each other rack.
 * So q links between its two lines are inside. */
static void test_racks_are_alike(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SIZES && sizes[i].q <= 9; i++) {
        unsigned q = sizes[i].q;
        struct hx_fabric f;
        make(&f, q, 1);
        unsigned *between = hx_allocate((size_t)q * q, sizeof *between);
        for (uint32_t router = f.hosts; router < f.nodes; router++) {
            for (unsigned port = 0; port < hx_fabric_ports(&f, router); port++) {
                uint32_t far = hx_fabric_far(&f, router, port).node;
                if (hx_is_host(&f, far))
                    continue;
                unsigned rack = (router - f.hosts) / q % q, other = (far - f.hosts) / q % q;
                between[rack * q + other]++;
                assert_int_equal(hx_fabric_link(&f, router, port)->kind, rack == other ? HX_DAC : HX_AOC);
            }
        }
        for (unsigned rack = 0; rack < q; rack++)
            for (unsigned other = 0; other < q; other++)
                assert_true(rack == other || between[rack * q + other] == 2 * q);
        free(between);
        hx_fabric_free(&f);
    }
}

static void test_hosts_fit_the_ports(void **state)
{
    struct hx_fabric f;
    (void)state;
    fabric_make(&f, "slim-fly q=37");
    assert_int_equal(f.hosts, 2 * 37 * 37 * 9);
    assert_int_equal(hx_fabric_ports(&f, f.hosts), 64);
    hx_fabric_free(&f);
}

static void test_impossible_arguments_are_refused(void **state)
{
    (void)state;
    fabric_refused("slim-fly q=6", "q is a prime power 4w - 1, 4w or 4w + 1 up to 41; 5 is the nearest");
    fabric_refused("slim-fly q=2", "3 is the nearest");
    fabric_refused("slim-fly q=15", "16 is the nearest");
    fabric_refused("slim-fly q=49", "41 is the nearest");
    fabric_refused("slim-fly q=43", "q is a prime power 4w - 1, 4w or 4w + 1 up to 41; 41 is the nearest");
    fabric_refused("slim-fly q=37 p=10", "10 hosts do not fit beside 55 links of a router of 64 ports; p=9 does");
    fabric_refused("slim-fly q=5 r=3", "unknown key 'r'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_graphs_of_all_sizes),       cmocka_unit_test(test_no_link_is_added_twice),
        cmocka_unit_test(test_smallest_are_known_graphs), cmocka_unit_test(test_routes),
        cmocka_unit_test(test_slim_fly_of_3042_hosts),    cmocka_unit_test(test_racks_are_alike),
        cmocka_unit_test(test_hosts_fit_the_ports),       cmocka_unit_test(test_impossible_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
