/* test_fabric.c - a fabric as topologies build it, link by link: grid, order of ports, distances, refusals. */
#include "topology/fabric.h"
#include "topology/topology.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct hx_fabric f;
static struct hx_problem problem;
static const struct hx_topology plain = {.word = "plain"}; /* has no routes of its own */

/* Routers in a row with `each` hosts; not joined yet. */
static void start(uint32_t routers, unsigned each)
{
    f = (struct hx_fabric){.topology = &plain, .planes = 1};
    hx_fabric_start(&f, routers * each, routers, routers, each);
    unsigned wire = hx_fabric_class_of_kind(&f, "wire", HX_DAC);
    for (uint32_t router = 0; router < routers; router++)
        hx_fabric_attach_hosts(&f, router, each, wire);
}

static void join(uint32_t a, uint32_t b)
{
    hx_fabric_add_link(&f, &(struct hx_new_link){.a = f.hosts + a, .b = f.hosts + b});
}

static int end(void **state)
{
    (void)state;
    hx_fabric_free(&f);
    return 0;
}

/* Grid of hosts without one of their own: the shorter side is the largest divisor that does not exceed the other. */
static void the_grid_is_as_near_a_square_as_can_be(void **state)
{
    (void)state;
    static const struct {
        uint32_t hosts, rows;
    } grids[] = {{1, 1}, {2, 1}, {3, 1}, {4, 2}, {6, 2}, {7, 1}, {9, 3}, {12, 3}, {16, 4}, {35, 5}, {1024, 32}};
    for (unsigned n = 0; n < sizeof grids / sizeof *grids; n++) {
        f = (struct hx_fabric){.topology = &plain, .planes = 1};
        hx_fabric_start(&f, grids[n].hosts, 1, grids[n].hosts, 1);
        assert_int_equal(f.rows, grids[n].rows);
        assert_int_equal(f.columns, grids[n].hosts / grids[n].rows);
        hx_fabric_free(&f);
    }
}

/* Ports of a router have the order of its links, for any number of links; both ends know each other. */
static void ports_are_in_the_order_of_links(void **state)
{
    (void)state;
    enum { ROUTERS = 60 };
    start(ROUTERS, 1);
    for (uint32_t a = 0; a < ROUTERS; a++) {
        for (uint32_t b = a + 1; b < ROUTERS; b++)
            join(a, b);
    }
    assert_true(hx_fabric_finish(&f, &problem));
    for (uint32_t a = 0; a < ROUTERS; a++) {
        uint32_t node = f.hosts + a;
        assert_int_equal(hx_fabric_ports(&f, node), ROUTERS);
        assert_int_equal(hx_fabric_far(&f, node, 0).node, a); /* its host was attached first */
        assert_int_equal(hx_fabric_far(&f, a, HX_E).node, node);
        for (unsigned port = 1; port < ROUTERS; port++) {
            struct hx_end far = hx_fabric_far(&f, node, port);
            assert_int_equal(far.node, f.hosts + port - 1 + (port - 1 >= a));
            struct hx_end back = hx_fabric_far(&f, far.node, far.port);
            assert_true(back.node == node && back.port == port);
        }
    }
}

/* Distances are numbers of links. */
static void distances_are_counted_in_links(void **state)
{
    (void)state;
    enum { ROUTERS = 100 };
    start(ROUTERS, 1);
    for (uint32_t a = 0; a + 1 < ROUTERS; a++)
        join(a, a + 1);
    assert_true(hx_fabric_finish(&f, &problem));
    for (uint32_t a = 0; a < ROUTERS; a++) {
        for (uint32_t b = 0; b < ROUTERS; b++)
            assert_int_equal(hx_router_distance(&f, f.hosts + a, f.hosts + b), a > b ? a - b : b - a);
    }
}

static void assert_refused(const char *what)
{
    assert_false(hx_fabric_finish(&f, &problem));
    assert_int_equal(problem.exit_code, HX_EXIT_CONFIG);
    assert_string_equal(problem.what, what);
    hx_fabric_free(&f);
}

/* The error names the first host without a path to host 0. */
static void a_disconnected_fabric_is_refused(void **state)
{
    (void)state;
    start(4, 2);
    join(0, 1);
    join(2, 3);
    assert_refused("the fabric is not connected: host 4 has no path to host 0");
    f = (struct hx_fabric){.topology = &plain, .planes = 1};
    hx_fabric_start(&f, 3, 3, 3, 3);
    hx_fabric_attach_hosts(&f, 0, 3, hx_fabric_class_of_kind(&f, "wire", HX_DAC));
    join(0, 1);
    assert_refused("the fabric is not connected: switch 2 has no path to host 0");
    start(3, 2);
    join(0, 1);
    join(1, 2);
    assert_true(hx_fabric_finish(&f, &problem));
}

static void a_switch_has_no_more_than_64_ports(void **state)
{
    (void)state;
    start(1, HX_MAX_RADIX);
    assert_true(hx_fabric_finish(&f, &problem));
    hx_fabric_free(&f);
    start(1, HX_MAX_RADIX + 1);
    assert_refused("a switch would have 65 ports, more than 64");
}

/* Hosts that forward, in a ring. */
static void ring(uint32_t hosts)
{
    enum { SIDE = 1024 };
    f = (struct hx_fabric){.topology = &plain, .planes = 1};
    hx_fabric_start(&f, hosts, 0, hosts / SIDE + 1, SIDE);
    for (uint32_t host = 0; host < hosts; host++) {
        hx_fabric_address(&f, host, host / SIDE, host % SIDE);
        hx_fabric_add_link(&f,
                           &(struct hx_new_link){.a = host, .b = (host + 1) % hosts, .a_port = HX_E, .b_port = HX_W});
    }
}

static void there_is_a_largest_fabric(void **state)
{
    (void)state;
    ring(HX_MAX_HOSTS + 1);
    assert_false(hx_fabric_finish(&f, &problem));
    assert_int_equal(problem.exit_code, HX_EXIT_CONFIG);
    hx_fabric_free(&f);
    ring(HX_MAX_HOSTS);
    assert_true(hx_fabric_finish(&f, &problem));
    assert_int_equal(hx_fabric_host(&f, (HX_MAX_HOSTS - 1) / 1024, 1023), HX_MAX_HOSTS - 1);
    assert_int_equal(hx_fabric_far(&f, HX_MAX_HOSTS - 1, HX_E).node, 0);
}

/* Memory behind the array is unchanged. */
static void there_are_at_most_8_classes(void **state)
{
    (void)state;
    start(2, 1);
    join(0, 1);
    while (f.link_classes <= HX_MAX_LINK_CLASSES)
        (void)hx_fabric_class_of_kind(&f, "more", HX_DAC);
    assert_int_equal(f.link_classes, HX_MAX_LINK_CLASSES + 1);
    assert_false(hx_fabric_finish(&f, &problem));
    assert_non_null(strstr(problem.what, "9 kinds of link are more than 8"));
}

static void there_are_at_most_8_words_for_switches(void **state)
{
    (void)state;
    start(2, 1);
    join(0, 1);
    const struct hx_geometry behind = f.mesh;
    while (f.names <= HX_MAX_NAME_RANGES)
        hx_fabric_name(&f, "word", f.hosts, 1, 0);
    assert_int_equal(f.names, HX_MAX_NAME_RANGES + 1);
    assert_memory_equal(&f.mesh, &behind, sizeof behind);
    assert_false(hx_fabric_finish(&f, &problem));
    assert_non_null(strstr(problem.what, "9 words for switches are more than 8"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(the_grid_is_as_near_a_square_as_can_be, end),
        cmocka_unit_test_teardown(ports_are_in_the_order_of_links, end),
        cmocka_unit_test_teardown(distances_are_counted_in_links, end),
        cmocka_unit_test_teardown(a_disconnected_fabric_is_refused, end),
        cmocka_unit_test_teardown(a_switch_has_no_more_than_64_ports, end),
        cmocka_unit_test_teardown(there_is_a_largest_fabric, end),
        cmocka_unit_test_teardown(there_are_at_most_8_classes, end),
        cmocka_unit_test_teardown(there_are_at_most_8_words_for_switches, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
