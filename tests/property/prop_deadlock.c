/* prop_deadlock.c - the channel dependency graph of the firmware's routing has no cycle, for dozens of shapes.
 *
 * Channels, dependencies and their removal are this file's own, on the oracle's graph. hxmesh-check does the same
 * independently, and both must count alike. Broken routes show that a cycle would be found. */
#include "tests/support/support_world.h"
#include "tools/paths/explore.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A routing rule: candidates of a packet, and its VC behind a port. */
struct rule {
    uint64_t (*ports)(const struct world *w, struct packet p);
    unsigned (*vc)(const struct world *w, struct packet p, int port);
};

static uint64_t firmware_ports(const struct world *w, struct packet p)
{
    return world_set(w, p.node, p.input);
}

static unsigned firmware_vc(const struct world *w, struct packet p, int port)
{
    return hx_route_vc(&w->routes[p.node], (unsigned)p.input, p.vc, (unsigned)port);
}

/* Broken: every minimal port at any time, so packets turn from north. */
static uint64_t fully_adaptive_ports(const struct world *w, struct packet p)
{
    if (p.node == w->to)
        return (uint64_t)1 << GRAPH_LOCAL;
    return graph_nearer(&w->graph, w->distance, p.node, p.layer);
}

/* Broken: one VC for all, and two where three are needed. */
static unsigned one_vc(const struct world *w, struct packet p, int port)
{
    (void)w;
    (void)p;
    (void)port;
    return 0;
}

static unsigned two_vcs(const struct world *w, struct packet p, int port)
{
    unsigned vc = firmware_vc(w, p, port);
    return vc < 1 ? vc : 1;
}

static const struct rule firmware_rule = {firmware_ports, firmware_vc};

/* A channel is the port of its arrival and a VC; it depends on ports of that node. */
struct dependencies {
    const struct world *w;
    const struct rule *rule;
    uint64_t *next; /* per channel */
    bool *used;
    int channels;
};

static int channel_at(const struct dependencies *d, int node, int input, unsigned vc)
{
    return (d->w->graph.first[node] + input) * WORLD_VCS + (int)vc;
}

static void dependencies_init(struct dependencies *d, const struct world *w, const struct rule *rule)
{
    *d = (struct dependencies){.w = w, .rule = rule, .channels = w->graph.first[w->graph.nodes] * WORLD_VCS};
    d->next = world_allocate((size_t)d->channels, sizeof *d->next);
    d->used = world_allocate((size_t)d->channels, sizeof *d->used);
}

static void dependencies_free(struct dependencies *d)
{
    free(d->next);
    free(d->used);
}

static struct packet behind(const struct dependencies *d, struct packet p, int port)
{
    const struct graph *g = &d->w->graph;
    struct graph_end far = graph_far(g, p.node, port);
    return (struct packet){.node = far.node,
                           .input = far.port,
                           .layer = graph_layer(g, p.layer, p.node, far.node),
                           .vc = d->rule->vc(d->w, p, port)};
}

/* Follows every packet to the world's destination. */
static void gather(struct dependencies *d, struct states *s, const bool *blocked)
{
    const struct graph *g = &d->w->graph;
    for (int from = 0; from < g->accelerators; from++)
        if (from != d->w->to && !(blocked && blocked[graph_board(g, from)]))
            states_add(s, d->w, (struct packet){.node = from, .input = GRAPH_LOCAL});
    while (s->depth > 0) {
        struct packet p = s->stack[--s->depth];
        if (p.node == d->w->to)
            continue;
        uint64_t set = d->rule->ports(d->w, p);
        if (p.input != GRAPH_LOCAL || g->kind[p.node] != GRAPH_BOARD)
            d->next[channel_at(d, p.node, p.input, p.vc)] |= set;
        for (int port = 0; port < graph_ports(g, p.node); port++) {
            if (!(set >> port & 1))
                continue;
            struct packet next = behind(d, p, port);
            d->used[channel_at(d, next.node, next.input, next.vc)] = true;
            states_add(s, d->w, next);
        }
    }
}

static void gather_all(struct dependencies *d, struct world *w, const bool *blocked)
{
    struct states s;
    states_init(&s, &w->graph);
    for (int to = 0; to < w->graph.accelerators; to++) {
        if (blocked && blocked[graph_board(&w->graph, to)])
            continue;
        world_aim(w, to);
        gather(d, &s, blocked);
    }
    states_free(&s);
}

/* Whether every channel that this one depends on has been removed. */
static bool is_free(const struct dependencies *d, const bool *left, int node, int input, unsigned vc)
{
    uint64_t set = d->next[channel_at(d, node, input, vc)];
    for (int port = 0; port < graph_ports(&d->w->graph, node); port++) {
        if (!(set >> port & 1))
            continue;
        struct packet next = behind(d, (struct packet){.node = node, .input = input, .vc = vc}, port);
        if (left[channel_at(d, next.node, next.input, next.vc)])
            return false;
    }
    return true;
}

/* Removes channels without dependencies, repeatedly; returns the number of the others. 0 means no cycle. */
static int remove_free(const struct dependencies *d)
{
    const struct graph *g = &d->w->graph;
    bool *left = world_allocate((size_t)d->channels, sizeof *left);
    int count = 0;
    for (int channel = 0; channel < d->channels; channel++)
        count += left[channel] = d->used[channel];
    for (bool removed = true; removed;) {
        removed = false;
        for (int node = 0; node < g->nodes; node++)
            for (int input = 0; input < graph_ports(g, node); input++)
                for (unsigned vc = 0; vc < WORLD_VCS; vc++)
                    if (left[channel_at(d, node, input, vc)] && is_free(d, left, node, input, vc)) {
                        left[channel_at(d, node, input, vc)] = false;
                        removed = true;
                        count--;
                    }
    }
    free(left);
    return count;
}

/* Channels in or before a cycle, for a rule and a shape. */
static int in_cycles(struct graph_shape shape, const struct rule *rule)
{
    struct world w;
    struct dependencies d;
    world_init(&w, shape, "broken on purpose");
    dependencies_init(&d, &w, rule);
    gather_all(&d, &w, NULL);
    int left = remove_free(&d);
    dependencies_free(&d);
    world_free(&w);
    return left;
}

/* ---- the properties ---- */

/* Intact, then with failing boards: packets of all these routes may be in flight together. */
static void validate_shape(struct graph_shape shape, const char *what)
{
    enum { ROUNDS = 3 };
    struct world w;
    struct dependencies d;
    uint64_t random = shapes_seed();
    world_init(&w, shape, what);
    dependencies_init(&d, &w, &firmware_rule);
    gather_all(&d, &w, NULL);
    for (int round = 0; round < ROUNDS; round++) {
        bool *blocked;
        uint8_t *bits;
        world_draw_blocked(&w, &random, &blocked, &bits);
        world_build_routes(&w, bits);
        gather_all(&d, &w, blocked);
        free(blocked);
        free(bits);
    }
    int left = remove_free(&d);
    if (left)
        fail_msg("%s: %d channels are in cycles", what, left);
    dependencies_free(&d);
    world_free(&w);
}

static void routing_has_no_cycle(void **state)
{
    (void)state;
    shapes_for_each(validate_shape);
}

static void validate_counts(struct graph_shape s, const char *what)
{
    struct world w;
    struct dependencies d;
    world_init(&w, s, what);
    dependencies_init(&d, &w, &firmware_rule);
    gather_all(&d, &w, NULL);
    uint64_t channels = 0;
    uint64_t dependencies = 0;
    for (int channel = 0; channel < d.channels; channel++) {
        channels += d.used[channel];
        dependencies += (uint64_t)__builtin_popcountll(d.next[channel]);
    }

    struct hx_spec spec = {.a = (unsigned)s.a,
                           .b = (unsigned)s.b,
                           .x = (unsigned)s.x,
                           .y = (unsigned)s.y,
                           .planes = 1,
                           .radix = (unsigned)s.radix,
                           .taper = (unsigned)s.taper};
    struct hx_problem problem;
    struct hx_plane plane;
    struct hx_channels tool;
    struct hx_progress progress = hx_progress_start("", true);
    uint32_t *cycle;
    assert_true(hx_spec_build(&spec, &problem));
    hx_plane_init(&plane, &spec);
    hx_channels_init(&tool, &plane);
    struct hx_findings f = hx_explore(&plane, &tool, &progress);
    if (f.channels != channels || f.dependencies != dependencies || f.dead_ends || f.unreachable || !f.minimal)
        fail_msg("%s: hxmesh-check counts %llu channels and %llu dependencies, not %llu and %llu, or worse", what,
                 (unsigned long long)f.channels, (unsigned long long)f.dependencies, (unsigned long long)channels,
                 (unsigned long long)dependencies);
    assert_int_equal(hx_channels_cycle(&tool, &cycle), 0);
    hx_channels_free(&tool);
    hx_plane_free(&plane);
    hx_spec_free(&spec);
    dependencies_free(&d);
    world_free(&w);
}

static void hxmesh_check_counts_alike(void **state)
{
    (void)state;
    shapes_for_each(validate_counts);
}

static void broken_routes_are_found(void **state)
{
    (void)state;
    static const struct rule turns_from_north = {fully_adaptive_ports, firmware_vc};
    static const struct rule never_increments = {firmware_ports, one_vc};
    static const struct rule increments_once = {firmware_ports, two_vcs};
    static const struct graph_shape shapes[] = {
        {2, 2, 2, 2, 64, 1}, {4, 4, 2, 2, 64, 1}, {2, 3, 3, 3, 4, 2}, {3, 3, 2, 3, 64, 1}};
    for (unsigned i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        assert_int_equal(in_cycles(shapes[i], &firmware_rule), 0);
        assert_int_not_equal(in_cycles(shapes[i], &turns_from_north), 0);
        assert_int_not_equal(in_cycles(shapes[i], &never_increments), 0);
        assert_int_not_equal(in_cycles(shapes[i], &increments_once), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broken_routes_are_found),
        cmocka_unit_test(routing_has_no_cycle),
        cmocka_unit_test(hxmesh_check_counts_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
