/* explore.c - visits every state of every packet (tools/paths/explore.h).
 *
 * For one destination, a packet's future depends only on the channel that it holds. So a depth-first search over
 * channels, from every source, visits each (channel, destination) once. It computes the shortest and the longest
 * remaining path of each channel.
 *
 * Detours (hxmesh/detour.h) are first followed to every intermediate router. Then, from each channel where a detour
 * ends, the search goes on to all destinations that the packet may have. */
#include "tools/paths/explore.h"
#include "topology/bounds.h"

#include <stdlib.h>

enum { NO_PATH = UINT16_MAX, ENDLESS = UINT16_MAX, OPEN = UINT16_MAX - 1 };

/* Path lengths to the destination in cables. NO_PATH: none; ENDLESS: a packet may loop. */
struct path_lengths {
    uint16_t shortest, longest;
    bool trapped; /* some choice does not arrive */
};

/* Result for a channel and `destination`; `longest` is OPEN while the channel is on the stack. */
struct visit {
    uint32_t destination;
    struct path_lengths path_lengths;
};

struct frame {
    uint32_t channel;
    uint64_t ports, left; /* all ports to follow, and those still to do */
};

struct explorer {
    struct hx_plane *p;
    struct hx_channels *c;
    struct hx_findings *found;
    struct visit *visits;
    struct frame *stack;
    uint32_t depth;
    uint32_t destination; /* number, from 1 */
    uint32_t node;        /* of the destination */
    unsigned gx, gy;
    double share; /* of a source's traffic to the destination */
    const struct hx_explore_also *also;
    struct hx_passed_channel *passed; /* channels that packets to the destination may hold; NULL: not kept */
    uint32_t passed_count;
    bool on_detour; /* the destination is a router; gx is its addr_hi */
    bool *ends;     /* per channel: a packet that holds it may be at the end of its detour */
};

static unsigned take_lowest(uint64_t *ports)
{
    unsigned port = (unsigned)__builtin_ctzll(*ports);
    *ports &= *ports - 1;
    return port;
}

/* Path lengths over `ports` of a node for a packet on `vc`. Every channel behind them has been visited. */
static struct path_lengths candidates_over(const struct explorer *e, struct hx_end at, unsigned vc, uint64_t ports)
{
    struct path_lengths all = {NO_PATH, 0, false};
    while (ports) {
        struct path_lengths w =
            e->visits[hx_channel_behind(e->c, at.node, at.port, vc, take_lowest(&ports))].path_lengths;
        if (w.shortest != NO_PATH && w.shortest + 1 < all.shortest)
            all.shortest = (uint16_t)(w.shortest + 1);
        all.trapped |= w.trapped || w.longest >= OPEN;
        if (w.longest >= OPEN)
            all.longest = ENDLESS;
        else if (w.longest + 1 > all.longest)
            all.longest = (uint16_t)(w.longest + 1);
    }
    return all;
}

static unsigned area_of(const struct hx_fabric *g, unsigned addr_hi)
{
    return g->detours.area ? addr_hi / g->detours.area : addr_hi;
}

static unsigned area_at(const struct hx_fabric *g, uint32_t node)
{
    return area_of(g, g->node[node].addr_hi);
}

static bool is_at_end(const struct explorer *e, uint32_t node)
{
    const struct hx_fabric *g = e->p->g;
    return e->on_detour && g->node[node].addr_hi != HX_NO_ADDRESS && area_at(g, node) == area_of(g, e->gx);
}

/* Output ports of a packet that came to `at` on `vc`. */
static uint64_t candidate_ports_of(const struct explorer *e, struct hx_end at, unsigned vc)
{
    const struct hx_route *r = hx_plane_route(e->p, at.node);
    return e->p->mixed || e->p->broken ? hx_route_candidates(r, at.port, vc, e->gx, e->gy)
                                       : hx_route_ports(r, at.port, e->gx, e->gy);
}

static void pass(struct explorer *e, uint32_t channel, uint64_t ports)
{
    if (e->passed)
        e->passed[e->passed_count++] = (struct hx_passed_channel){channel, ports};
}

/* Visits a channel for the first time: settles delivery and dead ends, else pushes it. */
static void open_channel(struct explorer *e, uint32_t channel)
{
    struct hx_end at = hx_channel_far(e->c, channel);
    bool nowhere = at.node == HX_NOWHERE;
    unsigned vc = channel % HX_CHANNEL_VCS;
    uint64_t ports = nowhere ? 0 : candidate_ports_of(e, at, vc);
    bool local = !nowhere && at.node < e->p->g->hosts && (ports >> HX_LOCAL & 1);

    e->c->used[channel] = true;
    e->found->vcs = vc + 1 > e->found->vcs ? vc + 1 : e->found->vcs;
    struct visit *v = &e->visits[channel];
    *v = (struct visit){.destination = e->destination, .path_lengths = {NO_PATH, 0, false}};
    if (!nowhere && is_at_end(e, at.node)) {
        v->path_lengths.shortest = 0;
        e->ends[channel] = true;
    } else if (local && at.node == e->node) {
        v->path_lengths.shortest = 0;
    } else if (local || ports == 0) {
        e->found->dead_ends++;
        v->path_lengths.trapped = true;
    } else {
        v->path_lengths.longest = OPEN;
        e->c->successors[channel] |= ports;
        e->stack[e->depth++] = (struct frame){channel, ports, ports};
        return;
    }
    pass(e, channel, 0);
}

static void follow(struct explorer *e, uint32_t start)
{
    if (e->visits[start].destination == e->destination)
        return;
    open_channel(e, start);
    while (e->depth > 0) {
        struct frame *top = &e->stack[e->depth - 1];
        struct hx_end at = hx_channel_far(e->c, top->channel);
        unsigned vc = top->channel % HX_CHANNEL_VCS;
        if (top->left == 0) {
            e->visits[top->channel].path_lengths = candidates_over(e, at, vc, top->ports);
            pass(e, top->channel, top->ports);
            e->depth--;
            continue;
        }
        uint32_t next = hx_channel_behind(e->c, at.node, at.port, vc, take_lowest(&top->left));
        if (e->visits[next].destination != e->destination)
            open_channel(e, next);
    }
}

static struct hx_pair pair_of(const struct explorer *e, uint32_t source)
{
    return (struct hx_pair){hx_coordinate_of(e->p->g, source), hx_coordinate_at(e->p->g, e->gx, e->gy)};
}

static void note_lengths(struct explorer *e, uint32_t source, struct path_lengths w)
{
    struct hx_findings *f = e->found;
    if (w.trapped && f->trapped++ == 0)
        f->trap = pair_of(e, source);
    if (w.longest > f->diameter && w.longest != ENDLESS) {
        f->diameter = w.longest;
        f->far = pair_of(e, source);
    }
    if (!e->p->broken && (w.longest != w.shortest || w.shortest != hx_fabric_distance(e->p->g, source, e->node)))
        f->minimal = false;
}

static void explore_pair(struct explorer *e, uint32_t source)
{
    const struct hx_route *r = hx_plane_route(e->p, source);
    const struct hx_end start = {source, HX_LOCAL};
    const unsigned vc = hx_route_injects_on(r, e->gx, e->gy);
    const uint64_t ports = candidate_ports_of(e, start, vc);
    struct hx_findings *f = e->found;
    for (uint64_t left = ports; left;)
        follow(e, hx_channel_behind(e->c, source, HX_LOCAL, vc, take_lowest(&left)));
    if (e->p->broken && e->p->broken->part[source] != e->p->broken->part[e->node]) {
        if (f->apart++ == 0)
            f->split = pair_of(e, source);
        return;
    }
    struct path_lengths w = candidates_over(e, start, vc, ports);
    f->pairs++;
    f->escapes += e->p->g->mesh.nodes && vc == HX_ESCAPE_VC;
    if (w.shortest == NO_PATH) {
        if (f->unreachable++ == 0)
            f->cut = pair_of(e, source);
        return;
    }
    note_lengths(e, source, w);
    if (e->also->loads && !w.trapped)
        hx_even_loads_send(e->also->loads, e->c, source, vc, ports, e->share);
}

/* Adds what all nodes answer to packets to the destination. */
static void add_answers(struct explorer *e)
{
    struct hx_channels *all = e->also->answers;
    for (uint32_t channel = 0; channel < all->count; channel++) {
        const unsigned vc = channel % HX_CHANNEL_VCS;
        const struct hx_end at = hx_channel_far(all, channel);
        if (vc >= HX_MESH_VCS || at.node == HX_NOWHERE || at.node == e->node)
            continue;
        all->used[channel] = true;
        all->successors[channel] |= candidate_ports_of(e, at, vc);
    }
}

/* ---- detours ---- */

/* Follows packets from the hosts of all other areas to each router that has hosts. */
static void explore_detours(struct explorer *e)
{
    const struct hx_fabric *g = e->p->g;
    e->on_detour = true;
    e->gy = HX_NO_ADDRESS;
    for (e->gx = 0; e->gx < g->digits[0]; e->gx++) {
        e->destination++;
        for (uint32_t host = 0; host < g->hosts; host++) {
            struct hx_end first = hx_fabric_far(g, host, HX_E);
            if (area_at(g, first.node) == area_of(g, e->gx))
                continue;
            uint32_t own = hx_channel_behind(e->c, host, HX_LOCAL, 0, HX_E);
            uint64_t ports = hx_route_ports(hx_plane_route(e->p, first.node), first.port, e->gx, e->gy);
            e->c->successors[own] |= ports;
            while (ports)
                follow(e, hx_channel_behind(e->c, first.node, first.port, 0, take_lowest(&ports)));
        }
    }
    e->on_detour = false;
}

/* Follows packets from the ends of detours to the destination. */
static void explore_turned(struct explorer *e)
{
    const struct hx_fabric *g = e->p->g;
    for (uint32_t channel = 0; channel < e->c->count; channel++) {
        struct hx_end at = hx_channel_far(e->c, channel);
        if (!e->ends[channel] || area_at(g, at.node) == area_at(g, e->node))
            continue;
        unsigned vc = channel % HX_CHANNEL_VCS;
        uint64_t ports = hx_route_ports(hx_plane_route(e->p, at.node), at.port, e->gx, e->gy);
        e->c->successors[channel] |= ports;
        e->found->dead_ends += ports == 0;
        while (ports)
            follow(e, hx_channel_behind(e->c, at.node, at.port, vc, take_lowest(&ports)));
    }
}

/* Explores all pairs of one job. */
static void explore_job(struct explorer *e, uint16_t tag, uint64_t hosts, struct hx_progress *progress)
{
    const struct hx_fabric *g = e->p->g;
    hx_plane_set_job(e->p, tag);
    e->share = hosts > 1 ? 1.0 / (double)(hosts - 1) : 0;
    for (uint32_t to = 0; to < g->hosts; to++) {
        e->gx = hx_address_of(g, to).addr_hi;
        e->gy = hx_address_of(g, to).addr_lo;
        const struct hx_coordinate end = hx_coordinate_of(g, to);
        if (!hx_plane_has(e->p, end.addr_hi, end.addr_lo))
            continue;
        e->node = to;
        e->destination++;
        e->passed_count = 0;
        for (uint32_t from = 0; from < g->hosts; from++) {
            struct hx_coordinate at = hx_coordinate_of(g, from);
            if (from != to && hx_plane_has(e->p, at.addr_hi, at.addr_lo))
                explore_pair(e, from);
        }
        if (g->routing.policy != HX_MINIMAL)
            explore_turned(e);
        if (e->also->loads)
            hx_even_loads_carry(e->also->loads, e->c, e->passed, e->passed_count);
        if (e->also->answers)
            add_answers(e);
        hx_progress_show(progress, (double)e->destination / g->hosts, "");
    }
}

/* Explores each job that has a working board. Counts the pairs of different jobs. */
static void explore_jobs(struct explorer *e, struct hx_progress *progress)
{
    const struct hx_spec *spec = e->p->spec;
    uint64_t *boards = hx_allocate(UINT16_MAX + 1, sizeof *boards);
    uint64_t all = 0;
    for (unsigned board = 0; board < hx_spec_boards(spec); board++) {
        boards[hx_spec_board_job(spec, board)] += !hx_spec_board_failed(spec, board);
        all += !hx_spec_board_failed(spec, board);
    }
    uint64_t on_board = e->p->g->hosts / hx_spec_boards(spec);
    for (unsigned tag = 0; tag <= UINT16_MAX; tag++) {
        if (boards[tag] == 0)
            continue;
        e->found->isolated += boards[tag] * (all - boards[tag]) * on_board * on_board;
        explore_job(e, (uint16_t)tag, boards[tag] * on_board, progress);
    }
    free(boards);
}

struct hx_findings hx_explore(struct hx_plane *p, struct hx_channels *c, struct hx_progress *progress)
{
    return hx_explore_also(p, c, &(struct hx_explore_also){.loads = NULL}, progress);
}

struct hx_findings hx_explore_also(struct hx_plane *p, struct hx_channels *c, const struct hx_explore_also *also,
                                   struct hx_progress *progress)
{
    struct hx_findings found = {.minimal = true};
    struct explorer e = {.p = p,
                         .c = c,
                         .found = &found,
                         .also = also,
                         .passed = also->loads ? hx_allocate(c->count, sizeof *e.passed) : NULL,
                         .visits = hx_allocate(c->count, sizeof *e.visits),
                         .ends = hx_allocate(c->count, sizeof *e.ends),
                         .stack = hx_allocate(c->count, sizeof *e.stack)};
    if (p->g->routing.policy != HX_MINIMAL)
        explore_detours(&e);
    explore_jobs(&e, progress);
    for (uint32_t channel = 0; channel < c->count; channel++) {
        found.channels += c->used[channel];
        found.dependencies += (uint64_t)__builtin_popcountll(c->successors[channel]);
    }
    HX_FREE(e.visits, e.ends, e.stack, e.passed);
    return found;
}
