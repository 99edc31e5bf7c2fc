/* test_name.c - names of nodes and ports: as the design has them, and back for every port. */
#include "hxmesh/error.h"
#include "topology/name_mesh.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static struct hx_geometry geometry(unsigned a, unsigned b, unsigned x, unsigned y, unsigned planes, unsigned radix,
                                   unsigned taper)
{
    struct hx_geometry g;
    assert_int_equal(hx_geometry_init(&g, a, b, x, y, planes, radix, taper), HX_OK);
    return g;
}

static void names_are_those_of_the_design(void **state)
{
    (void)state;
    char name[HX_NAME_BYTES];
    struct hx_geometry g = geometry(2, 2, 4, 4, 2, 4, 1); /* 8 ports a line: 4 leaves of 2 down, 2 up; 2 spines */
    assert_string_equal(hx_mesh_port_name(name, &g, 0, hx_accelerator(&g, 5, 3), HX_E), "a5,3/p0/E");
    assert_string_equal(hx_mesh_port_name(name, &g, 1, hx_accelerator(&g, 0, 7), HX_LOCAL), "a0,7/p1/local");
    assert_string_equal(hx_mesh_node_name(name, &g, 1, hx_accelerator(&g, 0, 7)), "a0,7/p1");
    uint32_t leaf = hx_tree_switch(&g, HX_ROW_SWITCH, 3, 1);
    assert_string_equal(hx_mesh_port_name(name, &g, 0, leaf, 0), "row3/p0/2");
    assert_string_equal(hx_mesh_port_name(name, &g, 0, leaf, 1), "row3/p0/3");
    assert_string_equal(hx_mesh_port_name(name, &g, 0, leaf, 2), "row3/p0/leaf1/up0");
    assert_string_equal(hx_mesh_node_name(name, &g, 0, leaf), "row3/p0/leaf1");
    uint32_t spine = hx_tree_switch(&g, HX_COLUMN_SWITCH, 5, 4);
    assert_string_equal(hx_mesh_port_name(name, &g, 1, spine, 2), "col5/p1/spine0/2");
    struct hx_geometry crossbar = geometry(2, 2, 8, 8, 1, 64, 1);
    assert_string_equal(hx_mesh_port_name(name, &crossbar, 0, hx_tree_switch(&crossbar, HX_ROW_SWITCH, 3, 0), 12),
                        "row3/p0/12");
}

static void there_and_back(const struct hx_geometry *g)
{
    for (unsigned plane = 0; plane < g->planes; plane++) {
        for (uint32_t node = 0; node < g->nodes; node++) {
            char name[HX_NAME_BYTES];
            unsigned plane_back = 99;
            uint32_t node_back = HX_NOWHERE;
            hx_mesh_node_name(name, g, plane, node);
            if (!hx_mesh_node_parse(name, g, &plane_back, &node_back) || plane_back != plane || node_back != node)
                fail_msg("%s does not map back", name);
            for (unsigned port = 0; port < hx_node_ports(g, node); port++) {
                unsigned port_back = 99;
                hx_mesh_port_name(name, g, plane, node, port);
                if (!hx_mesh_port_parse(name, g, &plane_back, &node_back, &port_back) || plane_back != plane ||
                    node_back != node || port_back != port)
                    fail_msg("%s does not map back", name);
            }
        }
    }
}

static void every_port_name_maps_back(void **state)
{
    (void)state;
    static const unsigned shapes[][7] = {{1, 1, 1, 1, 1, 64, 1}, {2, 2, 4, 4, 4, 64, 1},  {2, 4, 3, 2, 2, 64, 1},
                                         {3, 2, 4, 2, 1, 4, 1},  {1, 2, 6, 5, 1, 6, 1},   {4, 3, 6, 3, 1, 5, 2},
                                         {8, 1, 3, 1, 3, 3, 2},  {1, 1, 40, 2, 1, 64, 1}, {1, 1, 500, 1, 1, 64, 1}};
    for (unsigned i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const unsigned *s = shapes[i];
        struct hx_geometry g = geometry(s[0], s[1], s[2], s[3], s[4], s[5], s[6]);
        there_and_back(&g);
    }
}

static void missing_ports_have_no_name(void **state)
{
    (void)state;
    struct hx_geometry g = geometry(2, 2, 4, 4, 2, 4, 1);
    static const char *const ports[] = {"",
                                        "a5,3",
                                        "a5,3/p0",
                                        "a5,3/p0/",
                                        "a5,3/p0/X",
                                        "a5,3/p0/E ",
                                        "a5,3/p0/EE",
                                        "a5,3/p2/E",
                                        "a8,0/p0/E",
                                        "a0,8/p0/E",
                                        "a05,3/p0/E",
                                        "a-1,3/p0/E",
                                        "A5,3/p0/E",
                                        "row8/p0/0",
                                        "row0/p0/8",
                                        "row0/p0/leaf4/up0",
                                        "row0/p0/leaf0/up2",
                                        "row0/p0/leaf0/2",
                                        "row0/p0/spine2/0",
                                        "row0/p0/spine0/up0",
                                        "row0/p0/spine0/99999999999",
                                        "col0/p0/1x",
                                        "rowcol0/p0/1"};
    unsigned plane;
    uint32_t node;
    unsigned port;
    for (unsigned i = 0; i < sizeof ports / sizeof *ports; i++)
        if (hx_mesh_port_parse(ports[i], &g, &plane, &node, &port))
            fail_msg("'%s' is taken for a port", ports[i]);
    static const char *const nodes[] = {"a5,3", "a5,3/p0/E", "row0/p0", "row0/p0/leaf4", "row0/p0/spine0x", "x"};
    for (unsigned i = 0; i < sizeof nodes / sizeof *nodes; i++)
        if (hx_mesh_node_parse(nodes[i], &g, &plane, &node))
            fail_msg("'%s' is taken for a node", nodes[i]);
}

static void an_accelerator_needs_no_letter(void **state)
{
    (void)state;
    struct hx_geometry g = geometry(2, 2, 4, 4, 2, 4, 1);
    unsigned plane = 9;
    uint32_t node = 0;
    unsigned port = 9;
    assert_true(hx_mesh_port_parse("5,3/p1/E", &g, &plane, &node, &port));
    assert_int_equal(node, hx_accelerator(&g, 5, 3));
    assert_int_equal(plane, 1);
    assert_int_equal(port, HX_E);
    assert_true(hx_mesh_node_parse("0,7/p0", &g, &plane, &node));
    assert_int_equal(node, hx_accelerator(&g, 0, 7));
    assert_false(hx_mesh_port_parse("8,0/p0/E", &g, &plane, &node, &port));
    assert_false(hx_mesh_port_parse(",0/p0/E", &g, &plane, &node, &port));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_those_of_the_design),
        cmocka_unit_test(every_port_name_maps_back),
        cmocka_unit_test(missing_ports_have_no_name),
        cmocka_unit_test(an_accelerator_needs_no_letter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
