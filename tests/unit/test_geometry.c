/* test_geometry.c - possible fabrics: each argument of hx_geometry_init at both its bounds, and their products.
 * Cables and distances: prop_route.c. */
#include "hxmesh/error.h"
#include "hxmesh/geometry.h"
#include "hxmesh/route.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { A, B, X, Y, PLANES, RADIX, TAPER, ARGUMENTS };

static int init(const unsigned of[ARGUMENTS])
{
    struct hx_geometry g;
    return hx_geometry_init(&g, of[A], of[B], of[X], of[Y], of[PLANES], of[RADIX], of[TAPER]);
}

/* The smallest fabric, except for one argument. */
static int init_with(unsigned which, unsigned value)
{
    unsigned of[ARGUMENTS] = {1, 1, 1, 1, 1, 64, 1};
    of[which] = value;
    return init(of);
}

static void each_argument_has_two_bounds(void **state)
{
    (void)state;
    static const struct {
        unsigned low, high;
    } bounds[ARGUMENTS] = {{1, 64}, {1, 64}, {1, 1024}, {1, 1024}, {1, 4}, {2, 64}, {1, 63}};
    for (unsigned i = 0; i < ARGUMENTS; i++) {
        assert_int_equal(init_with(i, bounds[i].low), HX_OK);
        assert_int_equal(init_with(i, bounds[i].high), HX_OK);
        assert_int_equal(init_with(i, bounds[i].low - 1), HX_E_RANGE);
        assert_int_equal(init_with(i, bounds[i].high + 1), HX_E_RANGE);
        assert_int_equal(init_with(i, UINT_MAX), HX_E_RANGE);
    }
}

static int init_sides(unsigned a, unsigned b, unsigned x, unsigned y)
{
    return init((const unsigned[ARGUMENTS]){a, b, x, y, 1, 64, 1});
}

/* 4,096 accelerators on a line, 1,048,576 in all. */
static void lines_and_fabrics_have_a_bound(void **state)
{
    (void)state;
    assert_int_equal(init_sides(64, 1, 64, 1), HX_OK);
    assert_int_equal(init_sides(64, 1, 65, 1), HX_E_RANGE);
    assert_int_equal(init_sides(1, 64, 1, 64), HX_OK);
    assert_int_equal(init_sides(1, 64, 1, 65), HX_E_RANGE);
    assert_int_equal(init_sides(2, 2, 512, 512), HX_OK);
    assert_int_equal(init_sides(2, 2, 513, 512), HX_E_RANGE);
    assert_int_equal(init_sides(2, 2, 512, 513), HX_E_RANGE);
}

static bool is_nowhere(const struct hx_geometry *g, uint32_t node, unsigned port)
{
    return hx_far_end(g, node, port).node == HX_NOWHERE;
}

/* Rows of eight board edges on leaves of two ports down and two up, columns on a crossbar: all their ports have
 * cables. */
static void missing_ports_have_no_cable(void **state)
{
    (void)state;
    struct hx_geometry g;
    assert_int_equal(hx_geometry_init(&g, 1, 1, 4, 2, 1, 4, 1), HX_OK);
    for (uint32_t node = 0; node < g.nodes; node++) {
        unsigned ports = hx_node_ports(&g, node);
        unsigned cables = node < g.accelerators ? HX_LOCAL : ports;
        for (unsigned port = 0; port < cables; port++)
            assert_false(is_nowhere(&g, node, port));
        for (unsigned port = cables; port < ports + 3; port++)
            assert_true(is_nowhere(&g, node, port));
    }
    assert_false(hx_is_edge(&g, 0, 0, HX_LOCAL));
    assert_true(hx_is_edge(&g, 0, 0, HX_E));
}

/* In dimension order a packet goes east or west while it may, and only then takes the other ports. */
static void dimension_order_leaves_only_x(void **state)
{
    (void)state;
    struct hx_geometry g;
    assert_int_equal(hx_geometry_init(&g, 3, 3, 3, 3, 1, 64, 1), HX_OK);
    const unsigned x_ports = 1U << HX_E | 1U << HX_W;
    const unsigned ups[] = {0xF, 0xF & ~(1U << HX_W), 0xF & ~(1U << HX_E)};
    for (uint32_t node = 0; node < g.accelerators * 3; node++) {
        struct hx_route before, after;
        uint8_t tables[2][18];
        uint64_t up = ups[node / g.accelerators];
        hx_route_build(&before, &g, node % g.accelerators, (struct hx_blocked_boards){0}, up, tables[0]);
        hx_route_build(&after, &g, node % g.accelerators, (struct hx_blocked_boards){0}, up, tables[1]);
        hx_route_order_x_first(&after, tables[1]);
        for (unsigned gx = 0; gx < g.columns; gx++) {
            unsigned open = before.x_table[gx] & x_ports & (unsigned)up;
            assert_int_equal(after.x_table[gx], open ? open : before.x_table[gx]);
        }
        assert_memory_equal(after.y_table, before.y_table, g.rows);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_argument_has_two_bounds),
        cmocka_unit_test(lines_and_fabrics_have_a_bound),
        cmocka_unit_test(dimension_order_leaves_only_x),
        cmocka_unit_test(missing_ports_have_no_cable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
