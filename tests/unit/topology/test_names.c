/* test_names.c - names of links on every topology: each leads back to its link, and means the same link whether routes
 * are the topology's own or searched, as for faults. */
#include "tests/support/support_fabric.h"
#include "topology/name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char *const specs[] = {"3x2 H2x3Mesh",
                                    "fat-tree hosts=24 radix=8 taper=2",
                                    "fat-tree hosts=64 radix=8 levels=3",
                                    "dragonfly a=4 p=2 h=2",
                                    "torus 5",
                                    "torus 2x2",
                                    "torus 4x3",
                                    "torus 4x4 board=2x2",
                                    "torus 3x4x2",
                                    "torus 2x3x2x2",
                                    "mesh 4",
                                    "mesh 5x4",
                                    "mesh 2x3x4",
                                    "hyperx 3x4 p=2",
                                    "hyperx 2x3x2 p=3",
                                    "slim-fly q=3 p=2",
                                    "mlfm h=3",
                                    "oft k=3",
                                    "bigraph m=4 n=6",
                                    "kautz degree=3 length=2 p=2",
                                    "Ring(4)_FC(3)_Switch(2)",
                                    "Ring(6)",
                                    "FC(4)",
                                    "graph examples/graph/cube.csv"};
enum { SPECS = sizeof specs / sizeof *specs };

static void every_topology_is_among_them(void **state)
{
    (void)state;
    for (unsigned t = 0; hx_topologies[t]; t++) {
        struct hx_problem problem;
        unsigned i = 0;
        while (i < SPECS && hx_topology_of(specs[i], &problem) != hx_topologies[t])
            i++;
        if (i == SPECS)
            fail_msg("no spec of '%s'", hx_topologies[t]->word);
    }
}

static void make(struct hx_fabric *f, const char *text)
{
    struct hx_problem problem;
    if (!hx_fabric_make(f, text, 2, &problem))
        fail_msg("%s: %s", text, problem.what);
}

static void require_back(const struct hx_fabric *f, const char *text)
{
    for (uint32_t node = 0; node < f->nodes; node++) {
        for (unsigned port = 0; port < hx_fabric_ports(f, node); port++) {
            char name[HX_NAME_BYTES];
            unsigned plane = 9;
            unsigned port_back = 99;
            uint32_t node_back = HX_NOWHERE;
            bool is_host = hx_is_host(f, node);
            if (f->split_hosts && is_host && port != HX_E && port != HX_LOCAL)
                continue; /* such a host has one link */
            (void)hx_port_name(name, f, 1, node, port);
            if (!hx_port_parse(name, f, &plane, &node_back, &port_back) || plane != 1 || node_back != node ||
                port_back != port)
                fail_msg("%s: %s of node %u port %u leads to node %u port %u", text, name, node, port, node_back,
                         port_back);
        }
    }
}

static void names_lead_back(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SPECS; i++) {
        struct hx_fabric f;
        char searched[HX_SPEC_BYTES];
        make(&f, specs[i]);
        require_back(&f, specs[i]);
        bool is_mesh = f.mesh.nodes != 0;
        hx_fabric_free(&f);
        (void)snprintf(searched, sizeof searched, "%s fail=", specs[i]);
        if (is_mesh)
            continue;
        make(&f, searched);
        require_back(&f, searched);
        hx_fabric_free(&f);
    }
}

/* Both ends of the link that a name stands for, by their names. */
static void ends_of(char text[2 * HX_NAME_BYTES + 8], const struct hx_fabric *f, const char *name)
{
    char from[HX_NAME_BYTES];
    char to[HX_NAME_BYTES];
    unsigned plane;
    unsigned port;
    uint32_t node;
    (void)snprintf(text, 2 * HX_NAME_BYTES + 8, "%s: none", name);
    if (!hx_port_parse(name, f, &plane, &node, &port))
        return;
    struct hx_end far = hx_fabric_far(f, node, port);
    (void)snprintf(text, 2 * HX_NAME_BYTES + 8, "%s to %s", hx_port_name(from, f, plane, node, port),
                   far.node == HX_NOWHERE ? "nothing" : hx_port_name(to, f, plane, far.node, far.port));
}

static void a_name_means_the_same_link_when_routes_are_searched(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SPECS; i++) {
        struct hx_fabric own;
        struct hx_fabric searched;
        char text[HX_SPEC_BYTES];
        make(&own, specs[i]);
        if (own.mesh.nodes) {
            hx_fabric_free(&own);
            continue;
        }
        (void)snprintf(text, sizeof text, "%s fail=", specs[i]);
        make(&searched, text);
        for (uint32_t node = 0; node < own.nodes; node++) {
            for (unsigned port = 0; port < hx_fabric_ports(&own, node); port++) {
                char name[HX_NAME_BYTES];
                char before[2 * HX_NAME_BYTES + 8];
                char behind[2 * HX_NAME_BYTES + 8];
                if (hx_fabric_far(&own, node, port).node == HX_NOWHERE)
                    continue;
                (void)hx_port_name(name, &own, 0, node, port);
                ends_of(before, &own, name);
                ends_of(behind, &searched, name);
                if (strcmp(before, behind) != 0)
                    fail_msg("%s: %s is %s, and with searched routes %s", specs[i], name, before, behind);
            }
        }
        hx_fabric_free(&own);
        hx_fabric_free(&searched);
    }
}

/* Ranks keep their coordinates, and a coordinate outside the fabric has no host. */
static void a_host_keeps_its_coordinate(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SPECS; i++) {
        struct hx_fabric own;
        struct hx_fabric searched;
        char text[HX_SPEC_BYTES];
        make(&own, specs[i]);
        (void)snprintf(text, sizeof text, "%s%s", specs[i], own.mesh.nodes ? "" : " fail=");
        make(&searched, text);
        assert_int_equal(own.hosts, searched.hosts);
        for (uint32_t host = 0; host < own.hosts; host++) {
            struct hx_coordinate at = hx_address_of(&own, host);
            struct hx_coordinate named = hx_coordinate_of(&searched, host);
            struct hx_coordinate address = hx_address_of(&searched, host);
            if (named.addr_hi != at.addr_hi || named.addr_lo != at.addr_lo)
                fail_msg("%s: host %u is a%u,%u, and with searched routes a%u,%u", specs[i], host, at.addr_hi,
                         at.addr_lo, named.addr_hi, named.addr_lo);
            assert_int_equal(hx_host_at(&searched, at.addr_hi, at.addr_lo), host);
            assert_int_equal(hx_coordinate_at(&searched, address.addr_hi, address.addr_lo).addr_lo, at.addr_lo);
        }
        struct hx_coordinate ranges = hx_coordinate_ranges(&searched);
        assert_int_equal(hx_host_at(&searched, ranges.addr_hi, 0), HX_NOWHERE);
        assert_int_equal(hx_host_at(&searched, 0, ranges.addr_lo), HX_NOWHERE);
        hx_fabric_free(&own);
        hx_fabric_free(&searched);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_topology_is_among_them),
        cmocka_unit_test(names_lead_back),
        cmocka_unit_test(a_name_means_the_same_link_when_routes_are_searched),
        cmocka_unit_test(a_host_keeps_its_coordinate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
