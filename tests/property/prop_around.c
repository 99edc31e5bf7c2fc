/* prop_around.c - routes around dead links of a HammingMesh, against an independent graph (support_graph.h).
 *
 * For every single link, switch and board of small fabrics, and for random sets of dead links: each pair that living
 * links join has a VC to inject on, and every way that nodes offer from there ends at the destination. No state comes
 * twice, no dead link is offered, and the dependencies of all channels have no cycle. Pairs that no living links join
 * have no candidates. Nodes may know different sets: on the VCs of rule 1 the dependencies of all sets together have no
 * cycle. Without dead links, a search finds the healthy tables, and the escape VC changes nothing. */
#include "hxmesh/around.h"
#include "tests/support/support_effort.h"
#include "tests/support/support_random.h"
#include "tests/support/support_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct around {
    struct world w;
    struct hx_dead_links dead;
    void *dead_memory, *search_memory;
    struct hx_around_search search;
    struct hx_around *node; /* [nodes] */
    void **copy;            /* [nodes] */
    void **taken;           /* memory of results */
    size_t bytes;           /* of one node's results, each rounded up to 8 */
    size_t takes, room;
    int *component;    /* [nodes] of living links */
    uint64_t *missing; /* [nodes]: ports that the node knows to be dead, and no other one does */
    /* Dependencies of channels: channel = first port of the node + input, times VCs, plus the VC. A packet goes on by a
     * port, on a VC behind it. */
    uint8_t *vc_behind; /* [channels][ports]: bits of VCs */
    uint8_t *of_all;    /* [channels][ports]: the same of all sets so far, on the VCs of rule 1 */
    uint8_t *seen;      /* [channels], of a destination: 1 being visited, 2 done */
    size_t channels;
    int escapes;                 /* pairs that need the escape VC */
    const struct world *healthy; /* NULL: links are dead */
};

static void *take(void *of, size_t bytes)
{
    struct around *a = of;
    if (a->takes == a->room) {
        a->room = 2 * a->room + 16;
        a->taken = realloc(a->taken, a->room * sizeof *a->taken);
    }
    return a->taken[a->takes++] = world_allocate(1, bytes);
}

static void *take_counted(void *of, size_t bytes)
{
    ((struct around *)of)->bytes += (bytes + 7) / 8 * 8;
    return take(of, bytes);
}

static void forget(struct around *a)
{
    while (a->takes)
        free(a->taken[--a->takes]);
}

static void open_around(struct around *a, struct graph_shape shape, const char *what)
{
    *a = (struct around){.escapes = 0};
    world_init(&a->w, shape, what);
    const struct hx_geometry *g = &a->w.g;
    a->dead_memory = world_allocate(1, hx_dead_links_bytes(g));
    hx_dead_links_init(&a->dead, g, a->dead_memory);
    a->search_memory = world_allocate(1, hx_around_search_bytes(g));
    hx_around_search_init(&a->search, g, a->search_memory);
    a->node = world_allocate(g->nodes, sizeof *a->node);
    a->copy = world_allocate(g->nodes, sizeof *a->copy);
    for (uint32_t node = 0; node < g->nodes; node++)
        a->copy[node] = world_allocate(1, hx_around_bytes(g, node));
    a->component = world_allocate(g->nodes, sizeof *a->component);
    a->missing = world_allocate(g->nodes, sizeof *a->missing);
    a->channels = (size_t)a->w.graph.first[g->nodes] * HX_VCS;
    a->vc_behind = world_allocate(a->channels, 64);
    a->of_all = world_allocate(a->channels, 64);
    a->seen = world_allocate(a->channels, 1);
}

static void close_around(struct around *a)
{
    forget(a);
    for (uint32_t node = 0; node < a->w.g.nodes; node++)
        free(a->copy[node]);
    free(a->taken);
    free(a->copy);
    free(a->node);
    free(a->dead_memory);
    free(a->search_memory);
    free(a->component);
    free(a->missing);
    free(a->vc_behind);
    free(a->of_all);
    free(a->seen);
    world_free(&a->w);
}

static bool lives(const struct around *a, int node, int port)
{
    return !(hx_dead_links_at(&a->dead, &a->w.g, (uint32_t)node) >> port & 1);
}

static void build(struct around *a)
{
    const struct hx_geometry *g = &a->w.g;
    forget(a);
    for (uint32_t node = 0; node < g->nodes; node++) {
        uint64_t up = ~hx_dead_links_at(&a->dead, g, node) & ~a->missing[node];
        struct hx_route *r = &a->w.routes[node];
        hx_route_build(r, g, node, (struct hx_blocked_boards){NULL}, up, a->w.memory[node]);
        r->vcs = HX_VCS;
        a->node[node] = (struct hx_around){
            .g = g, .dead = &a->dead, .search = &a->search, .take = take, .of = a, .up = up, .node = node};
        hx_around_begin(&a->node[node], r, a->w.memory[node], a->copy[node]);
    }
}

/* ---- the oracle: what living links join ---- */

static void spread(struct around *a, int node, int component)
{
    a->component[node] = component;
    for (int port = 0; port < graph_ports(&a->w.graph, node); port++) {
        struct graph_end far = graph_far(&a->w.graph, node, port);
        if (far.node != GRAPH_NOTHING && lives(a, node, port) && !a->component[far.node])
            spread(a, far.node, component);
    }
}

static void find_components(struct around *a)
{
    memset(a->component, 0, a->w.g.nodes * sizeof *a->component);
    for (int node = 0; node < a->w.graph.nodes; node++)
        if (!a->component[node])
            spread(a, node, node + 1);
}

/* ---- every way of a packet ---- */

static uint64_t candidates(const struct around *a, int node, int input, unsigned vc)
{
    return hx_route_candidates(&a->w.routes[node], (unsigned)input, vc, a->w.gx, a->w.gy);
}

static size_t channel_of(const struct around *a, int node, int input, unsigned vc)
{
    return ((size_t)a->w.graph.first[node] + (size_t)input) * HX_VCS + vc;
}

static void follow(struct around *a, int node, int input, unsigned vc)
{
    const size_t channel = channel_of(a, node, input, vc);
    if (a->seen[channel] == 1)
        fail_msg("%s: a packet to %u,%u goes round at node %d", a->w.what, a->w.gx, a->w.gy, node);
    if (a->seen[channel] || node == a->w.to)
        return;
    a->seen[channel] = 1;
    const uint64_t ports = candidates(a, node, input, vc);
    if (!ports)
        fail_msg("%s: a dead end at node %d input %d VC %u to %u,%u", a->w.what, node, input, vc, a->w.gx, a->w.gy);
    if (a->healthy && hx_route_candidates(&a->healthy->routes[node], (unsigned)input, vc, a->w.gx, a->w.gy) & ~ports)
        fail_msg("%s: node %d input %d VC %u to %u,%u: ports %#llx lack healthy ones", a->w.what, node, input, vc,
                 a->w.gx, a->w.gy, (unsigned long long)ports);
    for (int port = 0; port < graph_ports(&a->w.graph, node); port++) {
        struct graph_end far = graph_far(&a->w.graph, node, port);
        if (!(ports >> port & 1))
            continue;
        if (far.node == GRAPH_NOTHING || !lives(a, node, port))
            fail_msg("%s: node %d offers port %d, which is dead", a->w.what, node, port);
        unsigned behind = hx_route_vc(&a->w.routes[node], (unsigned)input, vc, (unsigned)port);
        assert_true(behind < HX_VCS);
        a->vc_behind[channel * 64 + (size_t)port] |= (uint8_t)(1U << behind);
        follow(a, far.node, far.port, behind);
    }
    a->seen[channel] = 2;
}

static void validate_pair(struct around *a, int from)
{
    const bool joined = a->component[from] == a->component[a->w.to];
    const unsigned vc = hx_around_injects_on(&a->node[from], &a->w.routes[from], a->w.gx, a->w.gy);
    const uint64_t ports = candidates(a, from, GRAPH_LOCAL, vc);
    if ((ports != 0) != joined)
        fail_msg("%s: %d to %d: offers %#llx on VC %u, but living links %s them", a->w.what, from, a->w.to,
                 (unsigned long long)ports, vc, joined ? "join" : "do not join");
    a->escapes += vc == HX_ESCAPE_VC;
    if (joined)
        follow(a, from, GRAPH_LOCAL, vc);
}

/* ---- cycles ---- */

static void visit(struct around *a, const uint8_t *vc_behind, int node, int input, unsigned vc)
{
    const size_t channel = channel_of(a, node, input, vc);
    if (a->seen[channel] == 1)
        fail_msg("%s: the dependencies of channels have a cycle at node %d input %d VC %u", a->w.what, node, input, vc);
    if (a->seen[channel])
        return;
    a->seen[channel] = 1;
    for (int port = 0; port < graph_ports(&a->w.graph, node); port++) {
        struct graph_end far = graph_far(&a->w.graph, node, port);
        for (unsigned behind = 0; behind < HX_VCS; behind++)
            if (vc_behind[channel * 64 + (size_t)port] >> behind & 1)
                visit(a, vc_behind, far.node, far.port, behind);
    }
    a->seen[channel] = 2;
}

static void validate_dependencies(struct around *a, const uint8_t *vc_behind)
{
    memset(a->seen, 0, a->channels);
    for (int node = 0; node < a->w.graph.nodes; node++)
        for (int input = 0; input < graph_ports(&a->w.graph, node); input++)
            for (unsigned vc = 0; vc < HX_VCS; vc++)
                visit(a, vc_behind, node, input, vc);
}

/* Adds those between the VCs of rule 1 to those of all sets. */
static void add_to_all(struct around *a)
{
    for (size_t channel = 0; channel < a->channels; channel++)
        for (size_t port = 0; channel % HX_VCS < HX_MESH_VCS && port < 64; port++)
            a->of_all[channel * 64 + port] |= a->vc_behind[channel * 64 + port] & ((1U << HX_MESH_VCS) - 1);
}

static void validate(struct around *a)
{
    build(a);
    find_components(a);
    memset(a->vc_behind, 0, a->channels * 64);
    for (a->w.to = 0; a->w.to < a->w.graph.accelerators; a->w.to++) {
        a->w.gx = (unsigned)(a->w.to % a->w.graph.columns);
        a->w.gy = (unsigned)(a->w.to / a->w.graph.columns);
        memset(a->seen, 0, a->channels);
        for (int from = 0; from < a->w.graph.accelerators; from++)
            if (from != a->w.to)
                validate_pair(a, from);
    }
    validate_dependencies(a, a->vc_behind);
    add_to_all(a);
}

/* ---- what dies ---- */

static void set_link(struct around *a, int node, int port, bool dead)
{
    (void)hx_dead_links_set(&a->dead, &a->w.g, (uint32_t)node, (unsigned)port, dead);
}

static void set_node(struct around *a, int node, bool dead)
{
    for (int port = 0; port < graph_ports(&a->w.graph, node); port++)
        set_link(a, node, port, dead);
}

static void set_board(struct around *a, int board, bool dead)
{
    for (int node = 0; node < a->w.graph.accelerators; node++)
        if (graph_board(&a->w.graph, node) == board)
            set_node(a, node, dead);
}

/* Shapes of at most 72 accelerators: crossbars and trees, boards of one and of many, lines of one board. */
static const struct graph_shape shapes[] = {{1, 1, 3, 3, 64, 1}, {2, 2, 2, 2, 64, 1}, {2, 2, 4, 4, 64, 1},
                                            {4, 2, 3, 2, 64, 1}, {1, 4, 5, 3, 64, 1}, {3, 3, 2, 2, 64, 1},
                                            {2, 1, 6, 3, 6, 1},  {1, 2, 9, 4, 10, 2}, {4, 4, 2, 2, 64, 1},
                                            {3, 2, 1, 4, 64, 1}, {1, 1, 8, 8, 8, 1},  {5, 1, 2, 3, 64, 1}};

/* Whether a part is tried: `make check` tries one in eight. */
static bool is_tried(unsigned *part)
{
    return (*part)++ % (effort_is_quick() ? 8 : 1) == 0;
}

static void validate_links_of(struct around *a, int node, unsigned *part)
{
    for (int port = 0; port < graph_ports(&a->w.graph, node); port++) {
        if (graph_far(&a->w.graph, node, port).node < node || !is_tried(part))
            continue;
        set_link(a, node, port, true);
        validate(a);
        set_link(a, node, port, false);
    }
}

static void each_dead_part_is_passed(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct around a;
        char what[64];
        unsigned part = (unsigned)i;
        (void)snprintf(what, sizeof what, "%dx%d boards of %dx%d", shapes[i].x, shapes[i].y, shapes[i].a, shapes[i].b);
        open_around(&a, shapes[i], what);
        for (int node = 0; node < a.w.graph.nodes; node++) {
            validate_links_of(&a, node, &part);
            set_node(&a, node, true);
            if (is_tried(&part))
                validate(&a);
            set_node(&a, node, false);
        }
        for (int board = 0; board < shapes[i].x * shapes[i].y; board++) {
            set_board(&a, board, true);
            if (is_tried(&part))
                validate(&a);
            set_board(&a, board, false);
        }
        assert_int_equal(a.dead.count, 0);
        validate_dependencies(&a, a.of_all);
        if (shapes[i].a > 1 && shapes[i].b > 1 && a.escapes)
            fail_msg("%s: %d pairs need the escape VC for one dead part", what, a.escapes);
        close_around(&a);
    }
}

static void random_sets_are_passed(void **state)
{
    (void)state;
    uint64_t random = seeded_by(53);
    const unsigned rounds = effort(18);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct around a;
        open_around(&a, shapes[i], "random");
        for (unsigned round = 0; round < rounds; round++) {
            const unsigned most = round % 3 ? 8 : (unsigned)a.w.graph.first[a.w.graph.nodes] / 4;
            for (unsigned left = 1 + seeded_below(&random, most); left > 0; left--) {
                int node = (int)seeded_below(&random, (unsigned)a.w.graph.nodes);
                set_link(&a, node, (int)seeded_below(&random, (unsigned)graph_ports(&a.w.graph, node)), true);
            }
            validate(&a);
            for (int node = 0; node < a.w.graph.nodes; node++)
                set_node(&a, node, false);
        }
        validate_dependencies(&a, a.of_all);
        close_around(&a);
    }
}

/* All boards count as concerned, though no link is dead. */
static void a_search_without_dead_links_finds_the_healthy_tables(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct around a;
        struct world healthy;
        open_around(&a, shapes[i], "healthy");
        world_init(&healthy, shapes[i], "healthy");
        for (int board = 0; board < shapes[i].x * shapes[i].y; board++)
            a.dead.board[board] = a.dead.column[board % shapes[i].x] = 1;
        a.dead.count = 1;
        a.healthy = &healthy;
        validate(&a);
        world_free(&healthy);
        close_around(&a);
    }
}

/* As at a failed board, which no set names: its neighbours lack links that others take to live. */
static void nodes_that_lack_links_keep_the_order_of_the_escape_vc(void **state)
{
    (void)state;
    uint64_t random = seeded_by(54);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct around a;
        open_around(&a, shapes[i], "lacking links");
        const size_t bytes = a.w.g.nodes * sizeof *a.search.level;
        uint32_t *first = world_allocate(1, bytes);
        set_link(&a, 0, HX_E, true);
        for (int node = 0; node < a.w.graph.nodes; node++)
            a.missing[node] = node ? 1U << seeded_below(&random, 4) : 0;
        build(&a);
        find_components(&a);
        for (uint32_t node = 0; node < a.w.g.nodes; node++) {
            const unsigned to = node ? 0 : 1;
            (void)hx_around_ports(&a.node[node], &a.w.routes[node], 0, HX_ESCAPE_VC, to, 0);
            if (node && a.component[node] == a.component[0])
                assert_memory_equal(a.search.level, first, bytes);
            else if (node == 0)
                memcpy(first, a.search.level, bytes);
        }
        free(first);
        close_around(&a);
    }
}

/* A node that asks for each way to all, by each input and VC, with all links concerned. */
static void ask_for_all(struct around *a, uint32_t node)
{
    a->node[node].take = take_counted;
    hx_around_begin(&a->node[node], &a->w.routes[node], a->w.memory[node], a->copy[node]);
    for (a->bytes = 0, a->w.to = 0; a->w.to < a->w.graph.accelerators; a->w.to++)
        for (unsigned input = 0; input < hx_node_ports(&a->w.g, node); input++)
            for (unsigned vc = 0; vc < HX_VCS; vc++)
                (void)hx_around_ports(&a->node[node], &a->w.routes[node], input, vc,
                                      (unsigned)(a->w.to % a->w.graph.columns),
                                      (unsigned)(a->w.to / a->w.graph.columns));
}

static void results_fit_their_bound(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct around a;
        open_around(&a, shapes[i], "results");
        set_board(&a, 0, true);
        for (int board = 0; board < shapes[i].x * shapes[i].y; board++)
            a.dead.board[board] = a.dead.column[board % shapes[i].x] = 1;
        build(&a);
        for (uint32_t node = 0; node < a.w.g.nodes; node += 5) {
            ask_for_all(&a, node);
            assert_in_range(a.bytes, 1, hx_around_result_bytes(&a.w.g, node, 1));
        }
        close_around(&a);
    }
}

/* Also for VCs that are corrupt. */
static void without_dead_links_the_escape_vc_changes_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct around a;
        struct world healthy;
        open_around(&a, shapes[i], "healthy");
        world_init(&healthy, shapes[i], "healthy");
        build(&a);
        for (uint32_t node = 0; node < a.w.g.nodes; node++)
            for (unsigned to = 0; to < a.w.g.accelerators; to++)
                for (unsigned input = 0; input < hx_node_ports(&a.w.g, node); input++)
                    for (unsigned vc = 0; vc < HX_MESH_VCS; vc++) {
                        const unsigned gx = to % a.w.g.columns;
                        const unsigned gy = to / a.w.g.columns;
                        assert_int_equal(hx_route_candidates(&a.w.routes[node], input, vc, gx, gy),
                                         hx_route_candidates(&healthy.routes[node], input, vc, gx, gy));
                        assert_int_equal(hx_around_injects_on(&a.node[node], &a.w.routes[node], gx, gy), 0);
                    }
        world_free(&healthy);
        close_around(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_dead_links_the_escape_vc_changes_nothing),
        cmocka_unit_test(a_search_without_dead_links_finds_the_healthy_tables),
        cmocka_unit_test(each_dead_part_is_passed),
        cmocka_unit_test(random_sets_are_passed),
        cmocka_unit_test(results_fit_their_bound),
        cmocka_unit_test(nodes_that_lack_links_keep_the_order_of_the_escape_vc),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
