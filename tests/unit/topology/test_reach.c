/* test_reach.c - whether routes lead from host to host while links are down (topology/reach.h). */
#include "base/error.h"
#include "hxmesh/route.h"
#include "tests/support/support_fabric.h"
#include "topology/reach.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A fabric in which links may be down. */
struct ground {
    struct hx_fabric f;
    uint64_t *up; /* [nodes]: ports that can send */
    struct hx_route route;
    void *memory;
};

static void ground_open(struct ground *g, const char *text)
{
    *g = (struct ground){.memory = NULL};
    fabric_make(&g->f, text);
    g->up = hx_allocate(g->f.nodes, sizeof *g->up);
    memset(g->up, UINT8_MAX, g->f.nodes * sizeof *g->up);
}

static void ground_close(struct ground *g)
{
    free(g->up);
    free(g->memory);
    hx_fabric_free(&g->f);
}

static void end_link(struct ground *g, uint32_t node, unsigned port)
{
    struct hx_end far = hx_fabric_far(&g->f, node, port);
    g->up[node] &= ~((uint64_t)1 << port);
    if (far.node != HX_NOWHERE)
        g->up[far.node] &= ~((uint64_t)1 << far.port);
}

static void end_links(struct ground *g, uint32_t host)
{
    for (unsigned port = 0; port < HX_LOCAL; port++)
        end_link(g, host, port);
}

static const struct hx_route *routes_of(void *of, uint32_t node)
{
    struct ground *g = of;
    free(g->memory);
    g->memory = hx_allocate(1, hx_fabric_route_bytes(&g->f, node));
    hx_fabric_route(&g->route, &g->f, node, (struct hx_blocked_boards){NULL}, g->up[node], g->memory);
    return &g->route;
}

static bool leads(struct ground *g, unsigned from_x, unsigned from_y, unsigned to_x, unsigned to_y)
{
    return hx_reaches(&g->f, hx_fabric_host(&g->f, from_x, from_y), hx_fabric_host(&g->f, to_x, to_y), routes_of, g);
}

/* Returns the ordered pairs of hosts without a path. */
static unsigned pairs_without_path(struct ground *g)
{
    unsigned count = 0;
    for (uint32_t from = 0; from < g->f.hosts; from++)
        for (uint32_t to = 0; to < g->f.hosts; to++)
            count += from != to && !hx_reaches(&g->f, from, to, routes_of, g);
    return count;
}

static void an_intact_fabric_leads_everywhere(void **state)
{
    (void)state;
    static const char *const each[] = {"2x2 Hx2Mesh", "3x2 Hx3Mesh", "torus 4x4", "fat-tree hosts=16 radix=8"};
    for (unsigned i = 0; i < sizeof each / sizeof *each; i++) {
        struct ground g;
        ground_open(&g, each[i]);
        assert_int_equal(pairs_without_path(&g), 0);
        ground_close(&g);
    }
}

/* a3,1 goes north on the board first, then neither east nor west: it has no path to a2,0 past a2,1. All others have
 * one, though some of their packets may choose a dead end before the board. */
static void a_dead_host_leaves_one_pair_with_a_path_in_one_direction(void **state)
{
    (void)state;
    struct ground g;
    ground_open(&g, "2x2 Hx2Mesh");
    end_links(&g, hx_fabric_host(&g.f, 2, 1));
    assert_int_equal(pairs_without_path(&g), 2 * 15 + 1);
    assert_false(leads(&g, 3, 1, 2, 0));
    assert_true(leads(&g, 2, 0, 3, 1));
    assert_true(leads(&g, 2, 3, 1, 1) && leads(&g, 1, 1, 2, 2));
    ground_close(&g);
}

/* Minimal paths to the west edge of a board do not enter by the east. By its column a2,1 is still reached. */
static void a_link_to_a_network_takes_paths_from_few_pairs(void **state)
{
    (void)state;
    struct ground g;
    ground_open(&g, "2x2 Hx2Mesh");
    end_link(&g, hx_fabric_host(&g.f, 2, 1), HX_W);
    assert_int_equal(pairs_without_path(&g), 4);
    assert_true(leads(&g, 2, 1, 2, 3) && leads(&g, 2, 3, 2, 1));
    ground_close(&g);
}

static void a_host_without_its_only_link_is_not_reached(void **state)
{
    (void)state;
    struct ground g;
    ground_open(&g, "fat-tree hosts=16 radix=8");
    end_links(&g, 3);
    assert_int_equal(pairs_without_path(&g), 2 * 15);
    ground_close(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_intact_fabric_leads_everywhere),
        cmocka_unit_test(a_dead_host_leaves_one_pair_with_a_path_in_one_direction),
        cmocka_unit_test(a_link_to_a_network_takes_paths_from_few_pairs),
        cmocka_unit_test(a_host_without_its_only_link_is_not_reached),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
