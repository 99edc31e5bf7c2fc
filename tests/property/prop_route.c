/* prop_route.c - geometry and routing of the firmware against a brute-force search over an independent graph.
 *
 * For dozens of shapes and every pair of accelerators it compares cables, distances, candidates at the source and in
 * every reachable state (node, input, crossed networks), VCs, and north-last. With blocked boards, every pair that
 * can be joined is joined, and no packet enters a blocked board. */
#include "hxmesh/error.h"
#include "tests/support/support_random.h"
#include "tests/support/support_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

/* ---- cables ---- */

static void validate_node(const struct world *w, int node)
{
    static const enum hx_node_kind kinds[] = {
        [GRAPH_BOARD] = HX_ACCELERATOR, [GRAPH_ROW] = HX_ROW_SWITCH, [GRAPH_COLUMN] = HX_COLUMN_SWITCH};
    if (hx_place_of(&w->g, (uint32_t)node).kind != kinds[w->graph.kind[node]] ||
        hx_node_ports(&w->g, (uint32_t)node) != (unsigned)graph_ports(&w->graph, node))
        fail_msg("%s: node %d is of another kind or has other ports", w->what, node);
}

static void validate_cable(const struct world *w, int node, int port)
{
    struct graph_end expected = graph_far(&w->graph, node, port);
    struct hx_end far = hx_far_end(&w->g, (uint32_t)node, (unsigned)port);
    bool nothing = far.node == HX_NOWHERE;
    if (nothing != (expected.node == GRAPH_NOTHING) ||
        (!nothing && (far.node != (uint32_t)expected.node || far.port != expected.port)))
        fail_msg("%s: node %d port %d leads to %d:%d, not %d:%d", w->what, node, port, (int)far.node, far.port,
                 expected.node, expected.port);
    if (nothing)
        return;
    struct hx_end back = hx_far_end(&w->g, far.node, far.port);
    if (back.node != (uint32_t)node || back.port != port)
        fail_msg("%s: the cable at node %d port %d does not lead back", w->what, node, port);
}

static void validate_cables(struct graph_shape s, const char *what)
{
    struct world w;
    world_init(&w, s, what);
    for (int node = 0; node < w.graph.nodes; node++) {
        validate_node(&w, node);
        for (int port = 0; port < graph_ports(&w.graph, node); port++)
            validate_cable(&w, node, port);
    }
    world_free(&w);
}

/* ---- every pair, and every state between ---- */

static void validate_pair(const struct world *w, int from)
{
    unsigned gx = (unsigned)(from % w->graph.columns);
    unsigned gy = (unsigned)(from / w->graph.columns);
    unsigned cables = w->distance[(size_t)from * GRAPH_LAYERS];
    if (hx_distance(&w->g, gx, gy, w->gx, w->gy) != cables)
        fail_msg("%s: %u,%u to %u,%u is %u cables, not %u", w->what, gx, gy, w->gx, w->gy,
                 hx_distance(&w->g, gx, gy, w->gx, w->gy), cables);
    uint64_t expected = graph_offered(&w->graph, w->distance, from, 0, false);
    if (world_set(w, from, GRAPH_LOCAL) != expected)
        fail_msg("%s: %u,%u to %u,%u: ports %#llx, not %#llx", w->what, gx, gy, w->gx, w->gy,
                 (unsigned long long)world_set(w, from, GRAPH_LOCAL), (unsigned long long)expected);
    bool from_network = graph_leaves_board(&w->graph, from, GRAPH_S);
    expected = graph_offered(&w->graph, w->distance, from, 0, !from_network);
    if (world_set(w, from, GRAPH_S) != expected)
        fail_msg("%s: %u,%u to %u,%u after %s: ports %#llx, not %#llx", w->what, gx, gy, w->gx, w->gy,
                 from_network ? "a network" : "north", (unsigned long long)world_set(w, from, GRAPH_S),
                 (unsigned long long)expected);
}

/* The packet behind a port; checks the VC, and that the path stays minimal. */
static struct packet move(const struct world *w, struct packet p, int port)
{
    struct graph_end far = graph_far(&w->graph, p.node, port);
    if (far.node == GRAPH_NOTHING)
        fail_msg("%s: node %d offers port %d, where nothing is", w->what, p.node, port);
    bool on_board = w->graph.kind[p.node] == GRAPH_BOARD && !graph_leaves_board(&w->graph, p.node, port);
    struct packet next = {.node = far.node,
                          .input = far.port,
                          .layer = graph_layer(&w->graph, p.layer, p.node, far.node),
                          .vc = hx_route_vc(&w->routes[p.node], (unsigned)p.input, p.vc, (unsigned)port),
                          .moved_north = on_board && port == GRAPH_N};
    if (next.layer == GRAPH_NOTHING)
        fail_msg("%s: node %d port %d crosses a dimension twice", w->what, p.node, port);
    if (next.vc != (unsigned)__builtin_popcount((unsigned)next.layer) || next.vc >= HX_VCS)
        fail_msg("%s: node %d port %d: VC %u after %d crossings", w->what, p.node, port, next.vc,
                 __builtin_popcount((unsigned)next.layer));
    if (w->distance[next.node * GRAPH_LAYERS + next.layer] + 1 != w->distance[p.node * GRAPH_LAYERS + p.layer])
        fail_msg("%s: node %d port %d is a detour", w->what, p.node, port);
    if (on_board && p.moved_north && port != GRAPH_N)
        fail_msg("%s: node %d turns from north to port %d", w->what, p.node, port);
    return next;
}

static void validate_state(const struct world *w, struct packet p, uint64_t set)
{
    uint64_t expected = w->graph.kind[p.node] == GRAPH_BOARD
                            ? graph_offered(&w->graph, w->distance, p.node, p.layer, p.moved_north)
                            : graph_nearer(&w->graph, w->distance, p.node, p.layer) & ~((uint64_t)1 << p.input);
    if (set == 0)
        fail_msg("%s: dead end at node %d input %d to %u,%u", w->what, p.node, p.input, w->gx, w->gy);
    if (set != expected)
        fail_msg("%s: node %d input %d layer %d to %u,%u: ports %#llx, not %#llx", w->what, p.node, p.input, p.layer,
                 w->gx, w->gy, (unsigned long long)set, (unsigned long long)expected);
}

static bool has_arrived(const struct world *w, struct packet p)
{
    return p.node == w->to;
}

static void validate_states(struct world *w, struct states *s)
{
    for (int from = 0; from < w->graph.accelerators; from++) {
        validate_pair(w, from);
        states_add(s, w, (struct packet){.node = from, .input = GRAPH_LOCAL});
    }
    while (s->depth > 0) {
        struct packet p = s->stack[--s->depth];
        uint64_t set = world_set(w, p.node, p.input);
        validate_state(w, p, set);
        for (int port = 0; port < graph_ports(&w->graph, p.node) && !has_arrived(w, p); port++)
            if (set >> port & 1)
                states_add(s, w, move(w, p, port));
    }
}

static void validate_routes(struct graph_shape shape, const char *what)
{
    struct world w;
    struct states s;
    world_init(&w, shape, what);
    states_init(&s, &w.graph);
    for (int to = 0; to < w.graph.accelerators; to++) {
        world_aim(&w, to);
        validate_states(&w, &s);
    }
    states_free(&s);
    world_free(&w);
}

/* ---- blocked boards ---- */

enum { BLOCKED_ROUNDS = 3, BLOCKED_DESTINATIONS = 24 };

/* From one source: all is right, or no path is possible. */
static void validate_blocked_source(struct world *w, struct states *s, const bool *blocked, int from)
{
    uint64_t first = world_set(w, from, GRAPH_LOCAL);
    bool possible = graph_can_reach(&w->graph, w->distance, from, w->to, blocked);
    if ((first != 0) != possible)
        fail_msg("%s: %d to %d with blocked boards: offers %#llx, but it is %s", w->what, from, w->to,
                 (unsigned long long)first, possible ? "possible" : "impossible");
    if (first)
        states_add(s, w, (struct packet){.node = from, .input = GRAPH_LOCAL});
    while (s->depth > 0) {
        struct packet p = s->stack[--s->depth];
        uint64_t set = world_set(w, p.node, p.input);
        if (w->graph.kind[p.node] == GRAPH_BOARD && blocked[graph_board(&w->graph, p.node)])
            fail_msg("%s: from %d to %d over blocked node %d", w->what, from, w->to, p.node);
        if (set == 0)
            fail_msg("%s: dead end at node %d to %d with blocked boards", w->what, p.node, w->to);
        for (int port = 0; port < graph_ports(&w->graph, p.node) && !has_arrived(w, p); port++)
            if (set >> port & 1)
                states_add(s, w, move(w, p, port));
    }
}

static void validate_blocked_round(struct world *w, struct states *s, uint64_t *random)
{
    bool *blocked;
    uint8_t *bits;
    world_draw_blocked(w, random, &blocked, &bits);
    world_build_routes(w, bits);
    states_forget(s, &w->graph);
    for (int i = 0; i < BLOCKED_DESTINATIONS; i++) {
        world_aim(w, (int)seeded_below(random, (unsigned)w->graph.accelerators));
        if (blocked[graph_board(&w->graph, w->to)])
            continue;
        for (int from = 0; from < w->graph.accelerators; from++)
            if (from != w->to && !blocked[graph_board(&w->graph, from)])
                validate_blocked_source(w, s, blocked, from);
    }
    free(blocked);
    free(bits);
}

static void validate_blocked(struct graph_shape shape, const char *what)
{
    if (shape.x * shape.y == 1)
        return;
    struct world w;
    struct states s;
    uint64_t random = shapes_seed();
    world_init(&w, shape, what);
    states_init(&s, &w.graph);
    for (int round = 0; round < BLOCKED_ROUNDS; round++)
        validate_blocked_round(&w, &s, &random);
    states_free(&s);
    world_free(&w);
}

/* ---- links that are down ---- */

static void validate_links(struct graph_shape shape, const char *what)
{
    struct world w;
    uint64_t random = shapes_seed();
    world_init(&w, shape, what);
    uint64_t *whole = world_allocate((size_t)w.graph.accelerators, sizeof *whole);
    for (int node = 0; node < w.graph.nodes; node++) {
        int input = GRAPH_LOCAL < graph_ports(&w.graph, node) ? GRAPH_LOCAL : 0;
        for (w.to = 0; w.to < w.graph.accelerators; w.to++) {
            w.gx = (unsigned)(w.to % w.graph.columns);
            w.gy = (unsigned)(w.to / w.graph.columns);
            whole[w.to] = world_set(&w, node, input);
        }
        uint64_t up = seeded_next(&random);
        uint64_t kept = w.graph.kind[node] == GRAPH_BOARD ? up | (uint64_t)1 << GRAPH_LOCAL : up;
        hx_route_build(&w.routes[node], &w.g, (uint32_t)node, (struct hx_blocked_boards){NULL}, up, w.memory[node]);
        for (w.to = 0; w.to < w.graph.accelerators; w.to++) {
            w.gx = (unsigned)(w.to % w.graph.columns);
            w.gy = (unsigned)(w.to / w.graph.columns);
            if (world_set(&w, node, input) != (whole[w.to] & kept))
                fail_msg("%s: node %d offers a link that is down, or not one that is up", what, node);
        }
    }
    free(whole);
    world_free(&w);
}

static void cables_are_those_of_the_oracle(void **state)
{
    (void)state;
    shapes_for_each(validate_cables);
}

static void candidates_are_those_of_a_brute_force_search(void **state)
{
    (void)state;
    shapes_for_each(validate_routes);
}

static void blocked_boards_are_bypassed_if_possible(void **state)
{
    (void)state;
    shapes_for_each(validate_blocked);
}

static void links_that_are_down_are_not_offered(void **state)
{
    (void)state;
    shapes_for_each(validate_links);
}

static void impossible_shapes_are_refused(void **state)
{
    (void)state;
    struct hx_geometry g;
    for (int ports = 2; ports <= 64; ports += 2)
        for (int radix = 2; radix <= 12; radix++)
            for (int taper = 1; taper <= 4; taper++) {
                struct graph_tree tree;
                bool possible = graph_tree_of(ports, radix, taper, &tree);
                int error = hx_geometry_init(&g, 1, 1, (unsigned)ports / 2, 1, 1, (unsigned)radix, (unsigned)taper);
                if (error != (possible ? HX_OK : HX_E_CAPACITY))
                    fail_msg("%d ports, radix %d, taper %d: %d", ports, radix, taper, error);
                if (possible && (g.row.leaves != tree.leaves || g.row.spines != tree.spines ||
                                 g.row.down != tree.down || g.row.up != tree.up))
                    fail_msg("%d ports, radix %d, taper %d: another tree", ports, radix, taper);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(impossible_shapes_are_refused),
        cmocka_unit_test(cables_are_those_of_the_oracle),
        cmocka_unit_test(candidates_are_those_of_a_brute_force_search),
        cmocka_unit_test(blocked_boards_are_bypassed_if_possible),
        cmocka_unit_test(links_that_are_down_are_not_offered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
