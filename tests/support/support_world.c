/* support_world.c - pairs the firmware with the oracle (support_world.h). */
#include "tests/support/support_world.h"
#include "hxmesh/error.h"
#include "tests/support/support_random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

void *world_allocate(size_t count, size_t bytes)
{
    void *memory = calloc(count, bytes);
    assert_non_null(memory);
    return memory;
}

void world_build_routes(struct world *w, const uint8_t *blocked)
{
    for (uint32_t node = 0; node < w->g.nodes; node++)
        hx_route_build(&w->routes[node], &w->g, node, (struct hx_blocked_boards){blocked}, UINT64_MAX, w->memory[node]);
}

void world_init(struct world *w, struct graph_shape s, const char *what)
{
    *w = (struct world){.what = what};
    assert_true(graph_build(&w->graph, s));
    assert_int_equal(hx_geometry_init(&w->g, (unsigned)s.a, (unsigned)s.b, (unsigned)s.x, (unsigned)s.y, 1,
                                      (unsigned)s.radix, (unsigned)s.taper),
                     HX_OK);
    if (w->g.nodes != (uint32_t)w->graph.nodes)
        fail_msg("%s: %u nodes, not %d", what, w->g.nodes, w->graph.nodes);
    w->routes = world_allocate(w->g.nodes, sizeof *w->routes);
    w->memory = world_allocate(w->g.nodes, sizeof *w->memory);
    for (uint32_t node = 0; node < w->g.nodes; node++)
        w->memory[node] = world_allocate(1, hx_route_bytes(&w->g, node));
    w->distance = world_allocate((size_t)w->graph.nodes * GRAPH_LAYERS, sizeof *w->distance);
    world_build_routes(w, NULL);
}

void world_free(struct world *w)
{
    for (uint32_t node = 0; node < w->g.nodes; node++)
        free(w->memory[node]);
    free(w->memory);
    free(w->routes);
    free(w->distance);
    graph_free(&w->graph);
}

void world_aim(struct world *w, int to)
{
    w->to = to;
    w->gx = (unsigned)(to % w->graph.columns);
    w->gy = (unsigned)(to / w->graph.columns);
    graph_distances(&w->graph, to, w->distance);
}

uint64_t world_set(const struct world *w, int node, int input)
{
    return hx_route_ports(&w->routes[node], (unsigned)input, w->gx, w->gy);
}

void world_draw_blocked(const struct world *w, uint64_t *random, bool **blocked, uint8_t **bits)
{
    int boards = w->graph.shape.x * w->graph.shape.y;
    unsigned percent = 10 + seeded_below(random, 50);
    *blocked = world_allocate((size_t)boards, sizeof **blocked);
    *bits = world_allocate((size_t)boards / 8 + 1, 1);
    for (int board = 0; board < boards; board++) {
        (*blocked)[board] = seeded_below(random, 100) < percent;
        (*bits)[board / 8] |= (uint8_t)((*blocked)[board] << board % 8);
    }
}

static size_t state_count(const struct graph *g)
{
    return (size_t)g->first[g->nodes] * GRAPH_LAYERS * WORLD_VCS;
}

void states_init(struct states *s, const struct graph *g)
{
    s->seen = world_allocate(state_count(g), sizeof *s->seen);
    s->stack = world_allocate(state_count(g), sizeof *s->stack);
    s->depth = 0;
}

void states_free(struct states *s)
{
    free(s->seen);
    free(s->stack);
}

void states_forget(struct states *s, const struct graph *g)
{
    memset(s->seen, 0, state_count(g) * sizeof *s->seen);
}

void states_add(struct states *s, const struct world *w, struct packet p)
{
    size_t port = (size_t)w->graph.first[p.node] + (size_t)p.input;
    int *seen = &s->seen[(port * GRAPH_LAYERS + (size_t)p.layer) * WORLD_VCS + p.vc];
    if (*seen == w->to + 1)
        return;
    *seen = w->to + 1;
    s->stack[s->depth++] = p;
}
