/* test_bounds.c - diameter, straight cut and all-to-all bound: against the paper, by hand, and by a maximum flow. */
#include "hxmesh/error.h"
#include "tests/support/support_shapes.h"
#include "topology/hamming_mesh.h"
#include "topology/loads.h"
#include "topology/mesh_alltoall.h"
#include "topology/mesh_bounds.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct hx_geometry geometry(unsigned a, unsigned b, unsigned x, unsigned y, unsigned radix, unsigned taper)
{
    struct hx_geometry g;
    assert_int_equal(hx_geometry_init(&g, a, b, x, y, 1, radix, taper), HX_OK);
    return g;
}

static void assert_near(double value, double expected)
{
    if (value < expected - 1e-9 || value > expected + 1e-9)
        fail_msg("%.12f, not %.12f", value, expected);
}

/* Loads by hand, or by a linear program over all minimal paths (glpsol). L: load of a row's fullest link if each of its
 * accelerators sends 1 to each other; the bound is (n - 1) / (4 * rows * L). */
static void alltoall_bounds(void **state)
{
    (void)state;
    static const struct {
        unsigned a, b, x, y, radix, taper;
        double bound;
    } cases[] = {{2, 2, 16, 16, 64, 1, 1023.0 / (4 * 32 * 30)},
                 {1, 1, 32, 32, 64, 1, 1023.0 / (4 * 32 * 15.5)},
                 {1, 1, 1, 1, 64, 1, 1}, /* no bound */
                 {1, 1, 2, 2, 64, 1, 3.0 / 4},
                 {2, 2, 64, 64, 64, 1, 16383.0 / (4 * 128 * 126)},
                 /* Far columns of a board are nearer over the row network. */
                 {4, 4, 1, 1, 64, 1, 15.0 / (4 * 4 * 3)}, /* 0-2, 1-2, 1-3 cross the middle, 0-3 does not */
                 {2, 2, 1, 1, 64, 1, 3.0 / (4 * 2)},
                 {1, 2, 1, 1, 64, 1, 1.0 / 4},
                 {8, 8, 1, 1, 64, 1, 63.0 / (4 * 8 * 10)},
                 {4, 4, 2, 2, 64, 1, 63.0 / (4 * 8 * 9)}, /* a port: 4 * 4 / 2 to the other board, and 0-3 */
                 {8, 8, 2, 2, 64, 1, 255.0 / (4 * 16 * 38)},
                 {4, 4, 4, 4, 64, 1, 255.0 / (4 * 16 * 25)},
                 {4, 4, 8, 8, 64, 1, 1023.0 / (4 * 32 * 57)},
                 {2, 4, 2, 1, 64, 1, 15.0 / (4 * 4 * 3)},
                 {2, 4, 3, 5, 64, 1, 119.0 / (4 * 6 * 33)},
                 {4, 2, 2, 3, 64, 1, 47.0 / (4 * 6 * 9)},
                 {2, 4, 3, 2, 64, 1, 47.0 / (4 * 6 * 9)}, /* the same, transposed */
                 /* Odd boards: two ways of equal length divide. */
                 {3, 3, 1, 1, 64, 1, 8.0 / (4 * 3 * 1)},
                 {5, 5, 1, 1, 64, 1, 24.0 / (4 * 5 * 3)},
                 {5, 1, 1, 1, 64, 1, 4.0 / (4 * 3)},
                 {1, 5, 1, 1, 64, 1, 4.0 / (4 * 3)},
                 {11, 1, 1, 1, 64, 1, 10.0 / (4 * 15)},
                 {3, 1, 3, 1, 64, 1, 8.0 / (4 * 9)},
                 {5, 5, 2, 1, 64, 1, 49.0 / (4 * 5 * 13.5)},
                 {5, 1, 3, 1, 64, 1, 14.0 / (4 * 26)},
                 /* Leaves of 48 and 16 up: 24 boards on one, 40 elsewhere. */
                 {2, 2, 64, 64, 64, 3, 16383.0 / (4 * 128 * 240)},
                 /* Radix 6: leaves of 3 ports. Board 0 is on leaf 0, board 1 on two leaves, 2 on leaf 1. */
                 {1, 1, 6, 1, 6, 1, 5.0 / (4 * 2.5)},
                 {2, 1, 6, 1, 6, 1, 11.0 / (4 * 10)},
                 {3, 1, 4, 1, 6, 1, 11.0 / (4 * 13.5)},
                 {4, 1, 5, 1, 7, 2, 19.0 / (4 * 33)},
                 {1, 1, 3, 1, 3, 2, 2.0 / (4 * 2)},
                 /* Radix 4, taper 3: boards 0 to 2 send 4, 3 and 4 by the uplinks of two leaves. */
                 {1, 1, 6, 1, 4, 3, 5.0 / (4 * 5.5)}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hx_geometry g = geometry(cases[i].a, cases[i].b, cases[i].x, cases[i].y, cases[i].radix, cases[i].taper);
        assert_near(hx_alltoall_bound(&g), cases[i].bound);
    }
}

/* Every board's side and every number of boards: no other split of the ways of equal length does better, as the search
 * over the tables of one row finds. */
static void alltoall_bounds_of_rows(void **state)
{
    (void)state;
    for (unsigned a = 1; a <= 12; a++) {
        for (unsigned x = 1; x <= 4; x++) {
            struct hx_geometry g = geometry(a, 1, x, 1, 64, 1);
            struct hx_fabric f;
            if (a * x == 1)
                continue;
            hx_fabric_of_mesh(&f, &g);
            double searched = fmin(1, hx_alltoall_by_loads(&f));
            if (searched < hx_alltoall_bound(&g) - 1e-9 || searched > 1.001 * hx_alltoall_bound(&g))
                fail_msg("%ux1 H%ux1Mesh: %.6f, by search %.6f", x, a, hx_alltoall_bound(&g), searched);
            hx_fabric_free(&f);
        }
    }
}

static void straight_cuts(void **state)
{
    (void)state;
    static const struct {
        unsigned a, b, x, y;
        unsigned links;
        double share;
    } cases[] = {{2, 2, 16, 16, 512, 0.25}, {4, 4, 8, 8, 256, 0.125}, {1, 1, 32, 32, 1024, 0.5},
                 {1, 1, 1, 1, 0, 0},        {4, 4, 1, 1, 8, 0.25},    {1, 1, 2, 1, 2, 0.5},
                 {1, 1, 3, 1, 2, 1.0 / 3},  {2, 2, 3, 2, 12, 0.25}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hx_geometry g = geometry(cases[i].a, cases[i].b, cases[i].x, cases[i].y, 64, 1);
        struct hx_straight_cut b = hx_straight_cut_of(&g);
        assert_int_equal(b.links, cases[i].links);
        assert_near(b.share, cases[i].share);
    }
}

/* Maximum number of link-disjoint directed paths from the accelerators of one half to the other, by augmenting
 * paths. By Ford and Fulkerson it is the least cut between them. */
struct flow {
    const struct graph *g;
    int8_t *used;      /* per port, for its cable: 1 this direction is used, -1 the other one */
    int *queue, *from; /* port by which a node was reached; -1: not reached, -2: a start */
    bool across;       /* the halves are north and south */
};

static bool in_first_half(const struct flow *f, int node)
{
    int columns = f->g->columns;
    return f->across ? node / columns < f->g->rows / 2 : node % columns < columns / 2;
}

static int opposite(const struct flow *f, int port_index)
{
    return f->g->first[f->g->far[port_index].node] + f->g->far[port_index].port;
}

static int breadth_first(struct flow *f)
{
    int head = 0;
    int tail = 0;
    for (int node = 0; node < f->g->nodes; node++) {
        bool start = node < f->g->accelerators && in_first_half(f, node);
        f->from[node] = start ? -2 : -1;
        if (start)
            f->queue[tail++] = node;
    }
    while (head < tail) {
        int node = f->queue[head++];
        if (node < f->g->accelerators && !in_first_half(f, node))
            return node;
        for (int i = f->g->first[node]; i < f->g->first[node + 1]; i++) {
            int next = f->g->far[i].node;
            if (next == GRAPH_NOTHING || f->used[i] == 1 || f->from[next] != -1)
                continue;
            f->from[next] = i;
            f->queue[tail++] = next;
        }
    }
    return GRAPH_NOTHING;
}

static int maximum_flow(const struct graph *g, bool across)
{
    struct flow f = {.g = g,
                     .used = calloc((size_t)g->first[g->nodes], 1),
                     .queue = calloc((size_t)g->nodes, sizeof(int)),
                     .from = calloc((size_t)g->nodes, sizeof(int)),
                     .across = across};
    int flow = 0;
    for (int node; (node = breadth_first(&f)) != GRAPH_NOTHING; flow++) {
        while (f.from[node] >= 0) {
            int port = f.from[node];
            int back = opposite(&f, port);
            f.used[port]++;
            f.used[back]--;
            node = g->far[back].node;
        }
    }
    free(f.used);
    free(f.queue);
    free(f.from);
    return flow;
}

static void validate_shape(struct graph_shape s, const char *what)
{
    struct graph graph;
    assert_true(graph_build(&graph, s));
    struct hx_geometry g =
        geometry((unsigned)s.a, (unsigned)s.b, (unsigned)s.x, (unsigned)s.y, (unsigned)s.radix, (unsigned)s.taper);
    int row = graph.columns > 1 ? maximum_flow(&graph, false) : 0;
    int column = graph.rows > 1 ? maximum_flow(&graph, true) : 0;
    int least = row == 0 || (column && column < row) ? column : row;
    if ((int)hx_straight_cut_of(&g).links != least)
        fail_msg("%s: straight cut %d, not %d", what, (int)hx_straight_cut_of(&g).links, least);

    uint16_t *distance = calloc((size_t)graph.nodes * GRAPH_LAYERS, sizeof *distance);
    unsigned longest = 0;
    for (int to = 0; to < graph.accelerators; to++) {
        graph_distances(&graph, to, distance);
        for (int from = 0; from < graph.accelerators; from++)
            if (distance[(size_t)from * GRAPH_LAYERS] > longest)
                longest = distance[(size_t)from * GRAPH_LAYERS];
    }
    if (hx_diameter(&g) != longest)
        fail_msg("%s: diameter %u, not %u", what, hx_diameter(&g), longest);
    free(distance);
    graph_free(&graph);
}

static void straight_cut_is_a_maximum_flow_and_diameter_a_longest_path(void **state)
{
    (void)state;
    shapes_for_each(validate_shape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alltoall_bounds),
        cmocka_unit_test(alltoall_bounds_of_rows),
        cmocka_unit_test(straight_cuts),
        cmocka_unit_test(straight_cut_is_a_maximum_flow_and_diameter_a_longest_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
