/* prop_notices.c - notices of dead links (include/hxmesh/notice.h) on all nodes of small fabrics.
 *
 * Links die and live again, nodes restart, and frames are lost, repeated and overtaken. When all is quiet, nodes that
 * living links join know the same: of each link with an end among them, whether it is dead. A link that flaps costs
 * each link no more frames than `hold` allows, and a fabric without dead links sends nothing. */
#include "hxmesh/notice.h"
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

enum { HOLD = 8, PERIOD = 40, IN_FLIGHT = 16 };

/* A frame in flight to a port. */
struct flying {
    struct hx_notice_frame frame;
    int node, port;
};

struct member {
    struct hx_notices notices;
    struct hx_dead_links dead;
    void *state, *dead_memory;
};

struct plane {
    struct world w;
    struct member *node;
    uint64_t *down; /* [nodes]: ports with a dead link, the truth */
    struct flying *flying;
    size_t flies, room;
    uint64_t random, now;
    uint64_t sent; /* frames */
    unsigned loss; /* percent */
};

static void start(struct plane *p, int node)
{
    struct member *m = &p->node[node];
    const struct hx_geometry *g = &p->w.g;
    memset(m->state, 0, hx_notices_bytes(g));
    memset(m->dead_memory, 0, hx_dead_links_bytes(g));
    hx_dead_links_init(&m->dead, g, m->dead_memory);
    hx_notices_init(&m->notices, g, &m->dead, m->state);
    m->notices.hold = HOLD;
    m->notices.period = PERIOD;
}

static void open_plane(struct plane *p, struct graph_shape shape, uint64_t seed)
{
    *p = (struct plane){.random = seeded_by(seed), .now = 1000, .room = 1 << 16};
    world_init(&p->w, shape, "notices");
    p->node = world_allocate(p->w.g.nodes, sizeof *p->node);
    p->down = world_allocate(p->w.g.nodes, sizeof *p->down);
    p->flying = world_allocate(p->room, sizeof *p->flying);
    for (int node = 0; node < p->w.graph.nodes; node++) {
        p->node[node].state = world_allocate(1, hx_notices_bytes(&p->w.g));
        p->node[node].dead_memory = world_allocate(1, hx_dead_links_bytes(&p->w.g));
        start(p, node);
    }
}

static void close_plane(struct plane *p)
{
    for (int node = 0; node < p->w.graph.nodes; node++) {
        free(p->node[node].state);
        free(p->node[node].dead_memory);
    }
    free(p->node);
    free(p->down);
    free(p->flying);
    world_free(&p->w);
}

/* ---- the fabric ---- */

static bool is_link(const struct plane *p, int node, int port)
{
    return port < graph_ports(&p->w.graph, node) && graph_far(&p->w.graph, node, port).node != GRAPH_NOTHING;
}

static void set_end(struct plane *p, int node, int port, bool dead)
{
    uint64_t bit = (uint64_t)1 << port;
    p->down[node] = dead ? p->down[node] | bit : p->down[node] & ~bit;
}

static void set_link(struct plane *p, int node, int port, bool dead)
{
    struct graph_end far = graph_far(&p->w.graph, node, port);
    if (far.node == GRAPH_NOTHING || (p->down[node] >> port & 1) == dead)
        return;
    set_end(p, node, port, dead);
    set_end(p, far.node, far.port, dead);
}

/* Sessions follow links. */
static void follow(struct plane *p, int node)
{
    struct hx_notices *n = &p->node[node].notices;
    for (int port = 0; port < graph_ports(&p->w.graph, node); port++) {
        bool lives = is_link(p, node, port) && !(p->down[node] >> port & 1);
        if (lives && !(n->open >> port & 1))
            hx_notices_open(n, (unsigned)port, p->now);
        if (!lives && n->open >> port & 1)
            hx_notices_close(n, (unsigned)port);
    }
    (void)hx_notices_say(n, (uint32_t)node, p->down[node], p->now);
}

static void send(struct plane *p, int node)
{
    struct hx_notices *n = &p->node[node].notices;
    for (int port = 0; port < graph_ports(&p->w.graph, node); port++) {
        if (!(n->open >> port & 1) || !hx_notices_are_due(n, (unsigned)port, p->now))
            continue;
        struct graph_end far = graph_far(&p->w.graph, node, port);
        struct flying *f = &p->flying[p->flies];
        assert_true(p->flies < p->room);
        f->node = far.node;
        f->port = far.port;
        hx_notices_next(n, (unsigned)port, &f->frame, p->now);
        p->sent++;
        p->flies += seeded_below(&p->random, 100) >= p->loss;
    }
}

/* Delivers frames in any order; one in ten stays for another time too. */
static void deliver(struct plane *p)
{
    for (size_t count = p->flies; count > 0; count--) {
        size_t at = seeded_below(&p->random, (unsigned)p->flies);
        struct flying f = p->flying[at];
        if (!(p->loss && seeded_below(&p->random, 10) == 0))
            p->flying[at] = p->flying[--p->flies];
        if (p->node[f.node].notices.open >> f.port & 1)
            hx_notices_take(&p->node[f.node].notices, (unsigned)f.port, &f.frame, p->now);
    }
}

static void run(struct plane *p, unsigned ticks)
{
    for (unsigned tick = 0; tick < ticks; tick++, p->now++) {
        for (int node = 0; node < p->w.graph.nodes; node++) {
            follow(p, node);
            send(p, node);
        }
        deliver(p);
    }
}

/* ---- what nodes know ---- */

static bool knows_dead(const struct plane *p, int node, int of, int port)
{
    const struct hx_dead_links *d = &p->node[node].dead;
    uint32_t hosts = p->w.g.accelerators;
    return (uint32_t)of < hosts ? d->accelerator[of] >> port & 1 : d->tree[(uint32_t)of - hosts] >> port & 1;
}

static void spread(const struct plane *p, int node, bool *joined)
{
    joined[node] = true;
    for (int port = 0; port < graph_ports(&p->w.graph, node); port++) {
        if (is_link(p, node, port) && !(p->down[node] >> port & 1) && !joined[graph_far(&p->w.graph, node, port).node])
            spread(p, graph_far(&p->w.graph, node, port).node, joined);
    }
}

static void validate_knowledge(const struct plane *p)
{
    bool *joined = world_allocate(p->w.g.nodes, sizeof *joined);
    for (int node = 0; node < p->w.graph.nodes; node++) {
        memset(joined, 0, p->w.g.nodes * sizeof *joined);
        spread(p, node, joined);
        for (int of = 0; of < p->w.graph.nodes; of++)
            for (int port = 0; joined[of] && port < graph_ports(&p->w.graph, of); port++)
                if (is_link(p, of, port) && knows_dead(p, node, of, port) != (p->down[of] >> port & 1))
                    fail_msg("node %d takes port %d of node %d to be %s", node, port, of,
                             knows_dead(p, node, of, port) ? "dead" : "alive");
    }
    free(joined);
}

/* ---- tests ---- */

static const struct graph_shape shapes[] = {
    {2, 2, 2, 2, 64, 1}, {1, 1, 4, 3, 64, 1}, {1, 2, 3, 3, 64, 1}, {2, 1, 6, 2, 6, 1}};

static void change_something(struct plane *p)
{
    int node = (int)seeded_below(&p->random, (unsigned)p->w.graph.nodes);
    int port = (int)seeded_below(&p->random, (unsigned)graph_ports(&p->w.graph, node));
    switch (seeded_below(&p->random, 6)) {
    case 0:
        start(p, node); /* forgets all, numbers too */
        break;
    case 1:
        for (int i = 0; i < graph_ports(&p->w.graph, node); i++)
            set_link(p, node, i, seeded_below(&p->random, 2));
        break;
    default:
        set_link(p, node, port, seeded_below(&p->random, 2));
        break;
    }
}

static void all_nodes_learn_what_is_dead(void **state)
{
    (void)state;
    const unsigned rounds = effort(60);
    for (unsigned round = 0; round < rounds; round++) {
        struct plane p;
        open_plane(&p, shapes[round % (sizeof shapes / sizeof *shapes)], round);
        p.loss = round % 3 ? 30 : 0;
        for (unsigned change = 0; change < 30; change++) {
            change_something(&p);
            run(&p, 1 + seeded_below(&p.random, 5));
        }
        run(&p, 2 * HOLD); /* all is said */
        if (p.loss == 0)
            run(&p, 3 * PERIOD);
        else
            run(&p, 60 * PERIOD);
        validate_knowledge(&p);
        close_plane(&p);
    }
}

static void a_fabric_without_dead_links_sends_nothing(void **state)
{
    (void)state;
    struct plane p;
    open_plane(&p, shapes[0], 1);
    run(&p, 10 * PERIOD);
    assert_int_equal(p.sent, 0);
    close_plane(&p);
}

static void a_cut_link_is_known_after_as_many_steps_as_hops(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct plane p;
        open_plane(&p, shapes[i], 2);
        run(&p, 2);
        set_link(&p, 0, 0, true);
        run(&p, 8); /* the diameter, and one */
        validate_knowledge(&p);
        assert_true(p.sent <= 2 * 2 * (uint64_t)p.w.graph.first[p.w.graph.nodes]);
        close_plane(&p);
    }
}

static void a_link_that_flaps_costs_a_bounded_number_of_frames(void **state)
{
    (void)state;
    struct plane p;
    open_plane(&p, shapes[0], 3);
    const unsigned ticks = 100 * HOLD;
    run(&p, 2);
    for (unsigned tick = 0; tick < ticks; tick++) {
        set_link(&p, 0, 0, tick % 2 == 0);
        run(&p, 1);
    }
    const uint64_t links = (uint64_t)p.w.graph.first[p.w.graph.nodes]; /* directed */
    /* Two nodes speak, each once in HOLD; a notice crosses a link once a direction; besides, a frame a period. The
     * link itself begins a session each second tick. */
    assert_true(p.sent <= links * (2 * ticks / HOLD + 2 + ticks / PERIOD + 1) + 2 * ticks);
    assert_true(p.sent >= links * ticks / HOLD / 2);
    run(&p, 2 * HOLD + 2 * PERIOD);
    validate_knowledge(&p);
    close_plane(&p);
}

/* Runs on, without changes: each link carries a frame a period in each direction, and no more. */
static void run_quietly(struct plane *p)
{
    const uint64_t links = (uint64_t)p->w.graph.first[p->w.graph.nodes], before = p->sent; /* directed */
    run(p, 10 * PERIOD);
    assert_true(p->sent - before <= 11 * links);
}

/* Its neighbours do not see that it restarts, and it has nothing to say. */
static void a_node_that_restarts_while_all_is_quiet_learns_all(void **state)
{
    (void)state;
    struct plane p;
    open_plane(&p, shapes[0], 6);
    set_link(&p, 0, 0, true);
    run(&p, 2 * PERIOD);
    start(&p, p.w.graph.nodes - 1);
    run(&p, 3 * PERIOD);
    validate_knowledge(&p);
    run_quietly(&p);
    close_plane(&p);
}

/* A node says number 1 before and after its restart, with other links. */
static void a_number_that_is_used_again_settles(void **state)
{
    (void)state;
    for (int first = 0; first < 2; first++) {
        struct plane p;
        open_plane(&p, shapes[0], 7);
        run(&p, 2);
        set_link(&p, 0, first, true);
        run(&p, 2 * HOLD);
        start(&p, 0);
        set_link(&p, 0, first, false);
        set_link(&p, 0, !first, true);
        run(&p, 4 * PERIOD);
        validate_knowledge(&p);
        run_quietly(&p);
        close_plane(&p);
    }
}

/* A peer that never agrees, for it has another fabric, is sent all once a period. */
static void a_peer_that_never_agrees_costs_a_bounded_number_of_frames(void **state)
{
    (void)state;
    struct plane p;
    open_plane(&p, shapes[0], 8);
    struct hx_notices *n = &p.node[0].notices;
    unsigned sent = 0;
    hx_notices_open(n, 0, p.now);
    assert_true(hx_notices_say(n, 0, 2, p.now));
    for (unsigned tick = 0; tick < 10 * PERIOD; tick++, p.now++) {
        struct hx_notice_frame f = {.digest = ~n->digest};
        hx_notices_take(n, 0, &f, p.now);
        if (!hx_notices_are_due(n, 0, p.now))
            continue;
        hx_notices_next(n, 0, &f, p.now);
        sent++;
    }
    assert_in_range(sent, 10, 12);
    close_plane(&p);
}

/* Takes a notice at port 0, which answers with one notice at once. */
static void expect_answer(struct hx_notices *n, struct hx_notice got, struct hx_notice answer)
{
    struct hx_notice_frame f = {.count = 1, .notice = {got}};
    hx_notices_take(n, 0, &f, 0);
    assert_int_equal(n->waiting[0], 1);
    assert_true(hx_notices_are_due(n, 0, 0));
    hx_notices_next(n, 0, &f, 0);
    assert_int_equal(f.count, 1);
    assert_int_equal(f.notice[0].node, answer.node);
    assert_int_equal(f.notice[0].sequence, answer.sequence);
    assert_true(f.notice[0].dead == answer.dead);
}

static void old_notices_and_those_of_itself_are_answered_at_once(void **state)
{
    (void)state;
    struct plane p;
    open_plane(&p, shapes[0], 9);
    struct hx_notices *n = &p.node[0].notices;
    hx_notices_open(n, 0, 0);
    assert_true(hx_notices_say(n, 0, 0, 0));
    const struct hx_notice newest = {5, 3, 1};
    hx_notices_take(n, 0, &(struct hx_notice_frame){.count = 1, .notice = {newest}}, 0);
    assert_int_equal(n->waiting[0], 0); /* the peer has it */
    expect_answer(n, (struct hx_notice){5, 2, 4}, newest);
    expect_answer(n, (struct hx_notice){0, 9, 2}, (struct hx_notice){0, 10, 0});
    expect_answer(n, (struct hx_notice){0, UINT32_MAX, 2}, (struct hx_notice){0, 10, 0}); /* behind 10 */
    hx_notices_open(n, 1, 0);
    assert_int_equal(n->waiting[1], 2);
    close_plane(&p);
}

/* One forged frame takes a node half a circle of numbers ahead. Of any two numbers one counts, or neighbours with both
 * would answer each other forever. */
static void numbers_half_a_circle_apart_settle(void **state)
{
    (void)state;
    for (uint32_t half = 0x7FFFFFFF; half <= 0x80000001; half++) {
        struct plane p;
        open_plane(&p, shapes[0], 5);
        run(&p, 2);
        set_link(&p, 0, 0, true);
        run(&p, 8);
        const uint32_t said = p.node[0].notices.state[0].sequence;
        const struct hx_notice_frame forged = {.count = 2, .notice = {{0, said + half / 2, 0}, {0, said + half, 0}}};
        hx_notices_take(&p.node[1].notices, 0, &forged, p.now);
        run(&p, 4 * PERIOD);
        validate_knowledge(&p);
        run_quietly(&p);
        close_plane(&p);
    }
}

static void notices_of_no_node_are_ignored(void **state)
{
    (void)state;
    struct plane p;
    open_plane(&p, shapes[0], 4);
    struct hx_notices *n = &p.node[0].notices;
    run(&p, 1);
    const struct hx_notice bad[] = {{p.w.g.nodes, 1, 1},
                                    {UINT32_MAX, 1, 1},
                                    {1, 0, 1},
                                    {1, 1, 1U << HX_LOCAL},
                                    {p.w.g.accelerators, 1, (uint64_t)1 << 63}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct hx_notice_frame f = {.count = 1, .notice = {bad[i]}};
        hx_notices_take(n, 0, &f, p.now);
        assert_int_equal(n->digest, 0);
        assert_int_equal(n->dead->count, 0);
    }
    close_plane(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_nodes_learn_what_is_dead),
        cmocka_unit_test(a_fabric_without_dead_links_sends_nothing),
        cmocka_unit_test(a_cut_link_is_known_after_as_many_steps_as_hops),
        cmocka_unit_test(a_link_that_flaps_costs_a_bounded_number_of_frames),
        cmocka_unit_test(a_node_that_restarts_while_all_is_quiet_learns_all),
        cmocka_unit_test(a_number_that_is_used_again_settles),
        cmocka_unit_test(a_peer_that_never_agrees_costs_a_bounded_number_of_frames),
        cmocka_unit_test(old_notices_and_those_of_itself_are_answered_at_once),
        cmocka_unit_test(numbers_half_a_circle_apart_settle),
        cmocka_unit_test(notices_of_no_node_are_ignored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
