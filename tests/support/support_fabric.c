/* support_fabric.c - walks the routing tables of a fabric (support_fabric.h).
 *
 * The state of a packet is its link and VC. For each destination the walk visits all states that packets of any
 * source reach. The dependencies of all destinations are kept together. */
#include "tests/support/support_fabric.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_VCS = 4, FAR = UINT16_MAX };

struct walk {
    const struct hx_fabric *f;
    struct fabric_findings found;
    struct hx_route *route; /* [nodes] */
    uint64_t **tables;      /* [nodes] */
    uint16_t *distance;     /* [nodes], to the destination, in links */
    uint32_t *seen;         /* [ports * MOST_VCS]: last destination of a visit, + 1 */
    uint64_t *successors;   /* [ports * MOST_VCS]: ports of the node behind the link that a packet may wait for */
    bool *used;             /* [ports * MOST_VCS] */
    uint32_t *queue;        /* states */
    uint32_t queued;
};

/* ---- the graph ---- */

static void check_ends(const struct hx_fabric *f, struct fabric_findings *found)
{
    for (uint32_t node = 0; node < f->nodes; node++) {
        for (unsigned port = 0; port < hx_fabric_ports(f, node); port++) {
            struct hx_end far = hx_fabric_far(f, node, port);
            if (far.node == HX_NOWHERE)
                continue;
            bool there = far.node < f->nodes && far.port < hx_fabric_ports(f, far.node);
            struct hx_end back = there ? hx_fabric_far(f, far.node, far.port) : far;
            found->wrong_ends += !there || back.node != node || back.port != port;
        }
        if (hx_is_host(f, node))
            found->wrong_ends += hx_fabric_host(f, f->node[node].addr_hi, f->node[node].addr_lo) != node;
        found->wrong_ends += f->node[node].group >= f->groups;
    }
}

static void search(const struct hx_fabric *f, uint32_t from, uint16_t *distance, uint32_t *queue)
{
    uint32_t count = 1;
    memset(distance, UINT8_MAX, f->nodes * sizeof *distance);
    queue[0] = from;
    distance[from] = 0;
    for (uint32_t at = 0; at < count; at++) {
        uint32_t node = queue[at];
        for (unsigned port = 0; port < hx_fabric_ports(f, node); port++) {
            uint32_t far = hx_fabric_far(f, node, port).node;
            if (far == HX_NOWHERE || distance[far] != FAR)
                continue;
            distance[far] = (uint16_t)(distance[node] + 1);
            queue[count++] = far;
        }
    }
}

/* ---- walking ---- */

static uint64_t nearer_ports(const struct walk *w, uint32_t node)
{
    uint64_t set = 0;
    for (unsigned port = 0; port < hx_fabric_ports(w->f, node); port++) {
        uint32_t far = hx_fabric_far(w->f, node, port).node;
        set |= (uint64_t)(far != HX_NOWHERE && w->distance[far] < w->distance[node]) << port;
    }
    return set;
}

/* Outputs for a packet from (input, vc) at a node; queues the states behind them. */
static uint64_t offer(struct walk *w, uint32_t node, unsigned input, unsigned vc, uint32_t to)
{
    const struct hx_route *r = &w->route[node];
    uint64_t ports = hx_route_ports(r, input, w->f->node[to].addr_hi, w->f->node[to].addr_lo);
    uint64_t local = hx_is_host(w->f, node) ? UINT64_C(1) << HX_LOCAL : 0;
    if (node == to || ports == 0 || ports & local) {
        w->found.lost += node != to || ports != local;
        return 0;
    }
    uint64_t nearer = nearer_ports(w, node);
    w->found.detours += (uint64_t)__builtin_popcountll(ports & ~nearer);
    w->found.missing += (uint64_t)__builtin_popcountll(nearer & ~ports);
    for (uint64_t left = ports; left; left &= left - 1) {
        unsigned port = (unsigned)__builtin_ctzll(left);
        unsigned behind = hx_route_vc(r, input, vc, port);
        if (port >= hx_fabric_ports(w->f, node) || hx_fabric_far(w->f, node, port).node == HX_NOWHERE) {
            w->found.lost++;
            ports &= ~(UINT64_C(1) << port);
            continue;
        }
        if (behind >= w->f->vcs || behind >= HX_VCS) {
            w->found.high_vcs++;
            ports &= ~(UINT64_C(1) << port);
            continue;
        }
        w->found.vcs = behind + 1 > w->found.vcs ? behind + 1 : w->found.vcs;
        uint32_t place = (w->f->node[node].first_port + port) * MOST_VCS + behind;
        if (w->seen[place] != to + 1)
            w->queue[w->queued++] = place;
        w->seen[place] = to + 1;
        w->used[place] = true;
    }
    return ports;
}

static bool has_failed(const struct hx_fabric *f, uint32_t host)
{
    return f->failed && f->failed[host];
}

static void walk_to(struct walk *w, uint32_t to)
{
    search(w->f, to, w->distance, w->queue);
    w->queued = 0;
    for (uint32_t from = 0; from < w->f->hosts; from++) {
        if (from == to || has_failed(w->f, from))
            continue;
        w->found.pairs++;
        if (w->distance[from] == FAR) {
            const struct hx_fabric_node *at = &w->f->node[to];
            w->found.cut_off++;
            w->found.lost += hx_route_ports(&w->route[from], HX_LOCAL, at->addr_hi, at->addr_lo) != 0;
            continue;
        }
        offer(w, from, HX_LOCAL, 0, to);
        w->found.distances += w->distance[from];
        if (w->distance[from] > w->found.diameter)
            w->found.diameter = w->distance[from];
    }
    for (uint32_t at = 0; at < w->queued; at++) {
        uint32_t place = w->queue[at];
        struct hx_end far = w->f->port[place / MOST_VCS].far;
        w->successors[place] |= offer(w, far.node, far.port, place % MOST_VCS, to);
    }
}

/* ---- dependencies ---- */

/* State that a packet at `place` waits for if it waits for this port of the node behind it. */
static uint32_t next_place(const struct walk *w, uint32_t place, unsigned port)
{
    struct hx_end far = w->f->port[place / MOST_VCS].far;
    unsigned vc = hx_route_vc(&w->route[far.node], far.port, place % MOST_VCS, port);
    return (w->f->node[far.node].first_port + port) * MOST_VCS + vc;
}

/* Removes states that no other waits for, until none is left; the rest is on a cycle or behind one. */
static uint64_t count_cycles(struct walk *w)
{
    uint32_t places = w->f->ports * MOST_VCS;
    uint32_t *waiting = hx_allocate(places, sizeof *waiting);
    uint64_t left = 0;
    w->queued = 0;
    for (uint32_t place = 0; place < places; place++)
        for (uint64_t ports = w->successors[place]; ports; ports &= ports - 1)
            waiting[next_place(w, place, (unsigned)__builtin_ctzll(ports))]++;
    for (uint32_t place = 0; place < places; place++) {
        left += w->used[place];
        if (w->used[place] && waiting[place] == 0)
            w->queue[w->queued++] = place;
    }
    for (uint32_t at = 0; at < w->queued; at++) {
        for (uint64_t ports = w->successors[w->queue[at]]; ports; ports &= ports - 1) {
            uint32_t next = next_place(w, w->queue[at], (unsigned)__builtin_ctzll(ports));
            if (--waiting[next] == 0)
                w->queue[w->queued++] = next;
        }
    }
    free(waiting);
    return left - w->queued;
}

/* ---- all of it ---- */

static struct walk start(const struct hx_fabric *f)
{
    size_t places = (size_t)f->ports * MOST_VCS;
    struct walk w = {.f = f,
                     .route = hx_allocate(f->nodes, sizeof *w.route),
                     .tables = hx_allocate(f->nodes, sizeof *w.tables),
                     .distance = hx_allocate(f->nodes, sizeof *w.distance),
                     .seen = hx_allocate(places, sizeof *w.seen),
                     .successors = hx_allocate(places, sizeof *w.successors),
                     .used = hx_allocate(places, sizeof *w.used),
                     .queue = hx_allocate(places + f->nodes, sizeof *w.queue)};
    for (uint32_t node = 0; node < f->nodes; node++) {
        w.tables[node] = hx_allocate(hx_fabric_route_bytes(f, node) / sizeof **w.tables + 1, sizeof **w.tables);
        hx_fabric_route(&w.route[node], f, node, (struct hx_blocked_boards){NULL}, UINT64_MAX, w.tables[node]);
    }
    return w;
}

static void stop(struct walk *w)
{
    for (uint32_t node = 0; node < w->f->nodes; node++)
        free(w->tables[node]);
    HX_FREE(w->tables, w->route, w->distance, w->seen, w->successors, w->used, w->queue);
}

struct fabric_findings fabric_find(const struct hx_fabric *f, uint32_t step)
{
    struct walk w = start(f);
    check_ends(f, &w.found);
    for (uint32_t to = 0; to < f->hosts; to += step)
        if (!has_failed(f, to))
            walk_to(&w, to);
    w.found.cycles = count_cycles(&w);
    stop(&w);
    return w.found;
}

void fabric_validate_found(const struct hx_fabric *f, const struct fabric_findings *found)
{
    assert_int_equal(found->wrong_ends, 0);
    assert_int_equal(found->lost, 0);
    assert_int_equal(found->high_vcs, 0);
    assert_int_equal(found->cycles, 0);
    assert_int_equal(found->vcs, f->vcs);
}

struct fabric_findings fabric_validate_some(const struct hx_fabric *f, uint32_t step)
{
    struct fabric_findings found = fabric_find(f, step);
    fabric_validate_found(f, &found);
    assert_int_equal(found.detours, 0);
    return found;
}

struct fabric_findings fabric_validate(const struct hx_fabric *f)
{
    return fabric_validate_some(f, 1);
}

void fabric_make(struct hx_fabric *f, const char *text)
{
    struct hx_problem problem;
    if (!hx_fabric_make(f, text, 1, &problem))
        fail_msg("%s: %s", problem.where, problem.what);
}

void fabric_refused(const char *text, const char *says)
{
    struct hx_fabric f;
    struct hx_problem problem;
    if (hx_fabric_make(&f, text, 1, &problem))
        fail_msg("'%s' is not refused", text);
    if (!strstr(problem.what, says))
        fail_msg("'%s' is refused with '%s', not with '%s'", text, problem.what, says);
    assert_int_equal(problem.exit_code, HX_EXIT_CONFIG);
}

/* ---- counts ---- */

uint32_t fabric_cables(const struct hx_fabric *f, enum hx_link_kind kind)
{
    uint32_t ends = 0;
    for (uint32_t port = 0; port < f->ports; port++)
        ends += f->port[port].far.node != HX_NOWHERE && f->link_class[f->port[port].link_class].kind == kind;
    return ends / 2;
}

uint64_t fabric_cost(const struct hx_fabric *f)
{
    uint64_t plane = UINT64_C(14280) * f->switches + UINT64_C(272) * fabric_cables(f, HX_DAC) +
                     UINT64_C(603) * fabric_cables(f, HX_AOC);
    return plane * f->bought_planes;
}

unsigned fabric_links_between(const struct hx_fabric *f, uint32_t a, uint32_t b)
{
    unsigned links = 0;
    for (unsigned port = 0; port < hx_fabric_ports(f, a); port++)
        links += hx_fabric_far(f, a, port).node == b;
    return links;
}

uint64_t fabric_shortest_paths(const struct hx_fabric *f, uint32_t a, uint32_t b)
{
    uint16_t *distance = hx_allocate(f->nodes, sizeof *distance);
    uint32_t *queue = hx_allocate(f->nodes, sizeof *queue);
    uint64_t *paths = hx_allocate(f->nodes, sizeof *paths);
    search(f, a, distance, queue);
    paths[a] = 1;
    for (uint32_t at = 0; at < f->nodes; at++) { /* queue: all nodes, nearest first */
        uint32_t node = queue[at];
        for (unsigned port = 0; port < hx_fabric_ports(f, node); port++) {
            uint32_t far = hx_fabric_far(f, node, port).node;
            if (far != HX_NOWHERE && distance[far] == distance[node] + 1)
                paths[far] += paths[node];
        }
    }
    uint64_t all = paths[b];
    free(distance);
    free(queue);
    free(paths);
    return all;
}

/* Adds to `load` the load of `flow` towards one destination; queue: nodes, nearest to it first. */
static void send_to(const struct walk *w, double *flow, double *load)
{
    for (uint32_t at = w->f->nodes - 1; at > 0; at--) {
        uint32_t node = w->queue[at];
        uint64_t nearer = nearer_ports(w, node);
        double part = flow[node] / __builtin_popcountll(nearer);
        for (; nearer; nearer &= nearer - 1) {
            unsigned port = (unsigned)__builtin_ctzll(nearer);
            load[w->f->node[node].first_port + port] += part;
            flow[hx_fabric_far(w->f, node, port).node] += part;
        }
    }
}

/* Load of the fullest link if each host sends to each other the share that `part` says. */
static double fullest_link(const struct hx_fabric *f, const uint32_t *attachment_router_to,
                           double (*part)(const struct hx_fabric *f, const uint32_t *attachment_router_to,
                                          uint32_t from, uint32_t to))
{
    struct walk w = {
        .f = f, .distance = hx_allocate(f->nodes, sizeof *w.distance), .queue = hx_allocate(f->nodes, sizeof *w.queue)};
    double *flow = hx_allocate(f->nodes, sizeof *flow);
    double *load = hx_allocate(f->ports, sizeof *load);
    double fullest = 0;
    for (uint32_t to = 0; to < f->hosts; to++) {
        search(f, to, w.distance, w.queue);
        for (uint32_t node = 0; node < f->nodes; node++)
            flow[node] = hx_is_host(f, node) ? part(f, attachment_router_to, node, to) : 0;
        send_to(&w, flow, load);
    }
    for (uint32_t port = 0; port < f->ports; port++)
        fullest = load[port] > fullest ? load[port] : fullest;
    HX_FREE(w.distance, w.queue, flow, load);
    return fullest;
}

static double to_everyone(const struct hx_fabric *f, const uint32_t *attachment_router_to, uint32_t from, uint32_t to)
{
    (void)f;
    (void)attachment_router_to;
    (void)from;
    (void)to;
    return 1;
}

double fabric_even_share(const struct hx_fabric *f)
{
    return (f->hosts - 1) / fullest_link(f, NULL, to_everyone);
}

/* Attachment router of a host, or the host itself. */
static uint32_t attachment_router(const struct hx_fabric *f, uint32_t host)
{
    uint32_t far = hx_fabric_far(f, host, HX_E).node;
    return f->nodes > f->hosts && !f->mesh.nodes ? far : host;
}

static double to_one_attachment_router(const struct hx_fabric *f, const uint32_t *attachment_router_to, uint32_t from,
                                       uint32_t to)
{
    uint32_t there = attachment_router(f, to);
    unsigned hosts = there == to;
    if (attachment_router_to[attachment_router(f, from)] != there)
        return 0;
    for (unsigned port = 0; there != to && port < hx_fabric_ports(f, there); port++)
        hosts += hx_is_host(f, hx_fabric_far(f, there, port).node);
    return 1.0 / hosts;
}

double fabric_share_of_attachment_routers(const struct hx_fabric *f, const uint32_t *attachment_router_to)
{
    return 1 / fullest_link(f, attachment_router_to, to_one_attachment_router);
}
