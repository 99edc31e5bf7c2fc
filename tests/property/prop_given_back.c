/* prop_given_back.c - links on a packet's path are down: the network returns the packet to a board, and from there it
 * goes on or is reported. For dozens of shapes and any links there is no dependency cycle, no packet circles, and none
 * is lost except at a switch without a link to any board.
 *
 * Every node knows only its own links, as at the time of the failure. All paths of all packets are followed, on
 * channels and dependencies of this file; the oracle's graph gives the possible returns. A broken rule shows that a
 * cycle would be found. */
#include "tests/support/support_random.h"
#include "tests/support/support_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROUNDS = 4, MOST_DESTINATIONS = 40 };

/* Fates of the packets of all shapes. */
static struct {
    unsigned long given_back, to_another_board, arrived, reported, dropped;
} count;

/* A shape with failed links. A channel is (the port of its arrival, VC); it depends on channels behind it. */
struct trial {
    const char *what;
    struct world w;
    uint64_t *up;      /* per node: ports with working links */
    bool up_again;     /* the broken rule: a packet from a spine may go up once more */
    bool *used, *seen; /* per channel; `seen`: by packets to the current destination */
    uint64_t *next;    /* per channel: outputs of its packets */
    struct packet *stack;
    int channels, depth;
};

static int channel_at(const struct trial *t, int node, int input, unsigned vc)
{
    return (t->w.graph.first[node] + input) * WORLD_VCS + (int)vc;
}

static bool is_board(const struct trial *t, int node)
{
    return node != GRAPH_NOTHING && t->w.graph.kind[node] == GRAPH_BOARD;
}

/* ---- links ---- */

static void build_routes(struct trial *t)
{
    for (uint32_t node = 0; node < t->w.g.nodes; node++)
        hx_route_build(&t->w.routes[node], &t->w.g, node, (struct hx_blocked_boards){NULL}, t->up[node],
                       t->w.memory[node]);
}

/* Takes this percentage of the links down. */
static void draw_links(struct trial *t, unsigned percent, uint64_t *random)
{
    const struct graph *g = &t->w.graph;
    memset(t->up, 0, (size_t)g->nodes * sizeof *t->up);
    for (int node = 0; node < g->nodes; node++) {
        for (int port = 0; port < graph_ports(g, node); port++) {
            struct graph_end far = graph_far(g, node, port);
            bool first = far.node > node || (far.node == node && far.port >= port);
            if (far.node == GRAPH_NOTHING || !first || seeded_below(random, 100) < percent)
                continue;
            t->up[node] |= (uint64_t)1 << port;
            t->up[far.node] |= (uint64_t)1 << far.port;
        }
    }
    build_routes(t);
}

/* Takes down all links except the `first`-th and the `second`-th, counted from either end. Returns the number of
 * links. */
static int cut_links(struct trial *t, int first, int second)
{
    const struct graph *g = &t->w.graph;
    int links = 0;
    memset(t->up, 0, (size_t)g->nodes * sizeof *t->up);
    for (int node = 0; node < g->nodes; node++) {
        for (int port = 0; port < graph_ports(g, node); port++) {
            struct graph_end far = graph_far(g, node, port);
            if (far.node == GRAPH_NOTHING || far.node < node || (far.node == node && far.port < port))
                continue;
            bool down = links == first || links == second;
            links++;
            if (down)
                continue;
            t->up[node] |= (uint64_t)1 << port;
            t->up[far.node] |= (uint64_t)1 << far.port;
        }
    }
    build_routes(t);
    return links;
}

/* Working ports of a switch to boards. */
static uint64_t to_boards(const struct trial *t, int node)
{
    uint64_t set = 0;
    for (int port = 0; port < graph_ports(&t->w.graph, node); port++)
        set |= (uint64_t)is_board(t, graph_far(&t->w.graph, node, port).node) << port;
    return set & t->up[node];
}

/* ---- packets ---- */

/* Ports for a packet without a path at a switch: back to its input, or if it came from a spine, to any board. */
static uint64_t back_from(struct trial *t, struct packet p)
{
    uint64_t down = to_boards(t, p.node);
    bool is_leaf = false;
    for (int port = 0; port < graph_ports(&t->w.graph, p.node); port++)
        is_leaf = is_leaf || is_board(t, graph_far(&t->w.graph, p.node, port).node);
    bool came_down = is_leaf && !is_board(t, graph_far(&t->w.graph, p.node, p.input).node);
    uint64_t set = t->w.routes[p.node].returns[p.input];
    uint64_t expected = came_down ? down : (uint64_t)1 << p.input;
    if (set != expected)
        fail_msg("%s: switch %d returns packets of port %d to 0x%llx, not 0x%llx", t->what, p.node, p.input,
                 (unsigned long long)set, (unsigned long long)expected);
    count.given_back++;
    count.to_another_board += came_down;
    count.dropped += set == 0;
    return t->up_again && came_down ? t->up[p.node] : set;
}

/* Candidate ports of a packet. None: its path ends here. */
static uint64_t candidate_ports_of(struct trial *t, struct packet p)
{
    const uint64_t local = (uint64_t)1 << GRAPH_LOCAL;
    uint64_t set = hx_route_candidates(&t->w.routes[p.node], (unsigned)p.input, p.vc, t->w.gx, t->w.gy);
    if (!is_board(t, p.node))
        return set ? set : back_from(t, p);
    bool arrived = p.node == t->w.to;
    if (arrived != (set == local))
        fail_msg("%s: accelerator %d offers 0x%llx to a packet for %d", t->what, p.node, (unsigned long long)set,
                 t->w.to);
    count.arrived += arrived;
    count.reported += set == 0;
    return set & ~local;
}

static void add(struct trial *t, struct packet p)
{
    int channel = channel_at(t, p.node, p.input, p.vc);
    t->used[channel] = true;
    if (t->seen[channel])
        return;
    t->seen[channel] = true;
    t->stack[t->depth++] = p;
}

static struct packet behind(const struct trial *t, struct packet p, int port)
{
    struct graph_end far = graph_far(&t->w.graph, p.node, port);
    return (struct packet){.node = far.node,
                           .input = far.port,
                           .vc = hx_route_vc(&t->w.routes[p.node], (unsigned)p.input, p.vc, (unsigned)port)};
}

static void leave(struct trial *t, struct packet p)
{
    uint64_t set = candidate_ports_of(t, p);
    if (set & ~t->up[p.node])
        fail_msg("%s: node %d offers 0x%llx, of which 0x%llx is up", t->what, p.node, (unsigned long long)set,
                 (unsigned long long)t->up[p.node]);
    if (p.input != GRAPH_LOCAL || !is_board(t, p.node))
        t->next[channel_at(t, p.node, p.input, p.vc)] |= set;
    for (; set; set &= set - 1) {
        struct packet next = behind(t, p, __builtin_ctzll(set));
        if (next.vc >= HX_MESH_VCS)
            fail_msg("%s: node %d sends a packet on VC %u", t->what, p.node, next.vc);
        add(t, next);
    }
}

/* Follows all packets to the world's destination. */
static void follow(struct trial *t)
{
    memset(t->seen, 0, (size_t)t->channels * sizeof *t->seen);
    for (int from = 0; from < t->w.graph.accelerators; from++)
        if (from != t->w.to)
            leave(t, (struct packet){.node = from, .input = GRAPH_LOCAL});
    while (t->depth > 0)
        leave(t, t->stack[--t->depth]);
}

static void follow_all(struct trial *t, uint64_t *random)
{
    int all = t->w.graph.accelerators;
    int some = all < MOST_DESTINATIONS ? all : MOST_DESTINATIONS;
    for (int i = 0; i < some; i++) {
        world_aim(&t->w, some == all ? i : (int)seeded_below(random, (uint64_t)all));
        follow(t);
    }
}

/* ---- cycles ---- */

/* Whether every channel that this one depends on has been removed. */
static bool is_free(const struct trial *t, const bool *left, struct packet p)
{
    for (uint64_t set = t->next[channel_at(t, p.node, p.input, p.vc)]; set; set &= set - 1) {
        struct packet next = behind(t, p, __builtin_ctzll(set));
        if (left[channel_at(t, next.node, next.input, next.vc)])
            return false;
    }
    return true;
}

/* Removes channels without dependencies, repeatedly; returns the number of the others. 0 means that there is no
 * cycle, so no packet uses a channel twice either. */
static int in_cycles(const struct trial *t)
{
    const struct graph *g = &t->w.graph;
    bool *left = world_allocate((size_t)t->channels, sizeof *left);
    memcpy(left, t->used, (size_t)t->channels * sizeof *left);
    int sum = 0;
    for (int channel = 0; channel < t->channels; channel++)
        sum += left[channel];
    for (bool removed = true; removed;) {
        removed = false;
        for (int node = 0; node < g->nodes; node++) {
            for (int at = 0; at < graph_ports(g, node) * WORLD_VCS; at++) {
                struct packet p = {.node = node, .input = at / WORLD_VCS, .vc = (unsigned)at % WORLD_VCS};
                bool *here = &left[channel_at(t, p.node, p.input, p.vc)];
                if (!*here || !is_free(t, left, p))
                    continue;
                *here = false;
                removed = true;
                sum--;
            }
        }
    }
    free(left);
    return sum;
}

static void begin(struct trial *t, struct graph_shape shape)
{
    world_init(&t->w, shape, t->what);
    t->channels = t->w.graph.first[t->w.graph.nodes] * WORLD_VCS;
    t->up = world_allocate((size_t)t->w.graph.nodes, sizeof *t->up);
    t->used = world_allocate((size_t)t->channels, sizeof *t->used);
    t->seen = world_allocate((size_t)t->channels, sizeof *t->seen);
    t->next = world_allocate((size_t)t->channels, sizeof *t->next);
    t->stack = world_allocate((size_t)t->channels, sizeof *t->stack);
}

/* Returns the number of channels in cycles. */
static int end(struct trial *t)
{
    int sum = in_cycles(t);
    free(t->up);
    free(t->used);
    free(t->seen);
    free(t->next);
    free(t->stack);
    world_free(&t->w);
    return sum;
}

/* Dependency cycles of a shape's packets, with packets of all links and of failed links in flight together. */
static int cycles_of(struct graph_shape shape, const char *what, uint64_t random, bool up_again)
{
    struct trial t = {.what = what, .up_again = up_again};
    begin(&t, shape);
    for (int round = 0; round < ROUNDS; round++) {
        draw_links(&t, round ? 2 + seeded_below(&random, 40) : 0, &random);
        follow_all(&t, &random);
    }
    return end(&t);
}

/* ---- the properties ---- */

static void validate_shape(struct graph_shape shape, const char *what)
{
    unsigned long dropped = count.dropped;
    int sum = cycles_of(shape, what, shapes_seed(), false);
    if (sum)
        fail_msg("%s: %d channels are in cycles", what, sum);
    if (shape.radix >= 2 * shape.x && shape.radix >= 2 * shape.y && count.dropped != dropped)
        fail_msg("%s: %lu packets cannot return, in crossbars", what, count.dropped - dropped);
}

static void returned_packets_neither_deadlock_nor_get_lost(void **state)
{
    (void)state;
    memset(&count, 0, sizeof count);
    shapes_for_each(validate_shape);
    print_message("%lu returned (%lu to another board), %lu arrived, %lu reported, %lu without any link to a board\n",
                  count.given_back, count.to_another_board, count.arrived, count.reported, count.dropped);
    assert_true(count.given_back > 1000 && count.to_another_board > 1000);
    assert_true(count.arrived > 1000 && count.reported > 1000);
}

/* In flight together are packets of every set of failed links: tables before, between and after, mixed. */
static void every_one_and_every_two_links_may_fail(void **state)
{
    (void)state;
    static const struct {
        struct graph_shape shape;
        const char *what;
    } each[] = {{{2, 2, 2, 2, 64, 1}, "2x2 Hx2Mesh"},
                {{1, 1, 4, 3, 64, 1}, "4x3 Hx1Mesh"},
                {{1, 3, 2, 2, 64, 1}, "2x2 H1x3Mesh"},
                {{1, 1, 4, 1, 4, 1}, "4x1 Hx1Mesh by trees of radix 4"},
                {{2, 1, 3, 2, 4, 1}, "3x2 H2x1Mesh by trees of radix 4"}};
    for (unsigned i = 0; i < sizeof each / sizeof *each; i++) {
        struct trial t = {.what = each[i].what};
        uint64_t random = 0; /* every destination: none is drawn */
        begin(&t, each[i].shape);
        int links = cut_links(&t, -1, -1);
        for (int first = 0; first < links; first++) {
            for (int second = first; second < links; second++) {
                (void)cut_links(&t, first, second);
                follow_all(&t, &random);
            }
        }
        int sum = end(&t);
        print_message("%s: %d links, %d sets\n", each[i].what, links, links * (links + 1) / 2);
        if (sum)
            fail_msg("%s: %d channels are in cycles", each[i].what, sum);
    }
}

static void going_up_again_is_found(void **state)
{
    (void)state;
    static const struct graph_shape trees = {2, 2, 6, 5, 6, 1};
    assert_int_equal(cycles_of(trees, "as it is", shapes_seed(), false), 0);
    assert_int_not_equal(cycles_of(trees, "broken on purpose", shapes_seed(), true), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(going_up_again_is_found),
        cmocka_unit_test(every_one_and_every_two_links_may_fail),
        cmocka_unit_test(returned_packets_neither_deadlock_nor_get_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
