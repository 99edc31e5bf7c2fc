/* build.c - makes the simulated nodes of a worker and binds their links (build.h). */
#include "build.h"
#include "arena.h"
#include "base/error.h"
#include "base/processor.h"
#include "driver.h"
#include "endpoint_parts.h"
#include "faults.h"
#include "forward.h"
#include "open_loop.h"
#include "prefetch.h"
#include "recording.h"
#include "repeats.h"
#include "route_tables.h"
#include "topology/attachment_routers.h"

#include <stdlib.h>
#include <string.h>

/* Limits that choose between two ways to visit; the results are the same.
 *
 * Near: simulated nodes stay in the second-level cache from one window to the next, so prefetching them is wasted work.
 * This holds up to 3/2 of a core's own cache, or 1/2 of a cache that workers share. It does not hold if endpoints use
 * much more than the cache.
 *
 * Late handover: packets between nodes of one worker are copied and delivered later. It pays only if simulated nodes
 * fill more than AT_ONCE_HALF_CACHES halves of a second-level cache and AT_ONCE_BYTES: 11 MiB with a cache of 2 MiB,
 * 7.5 MiB with one of 1 MiB (make bench-base, row Slim Fly). */
enum {
    AT_ONCE_BYTES = 4 << 20,
    AT_ONCE_HALF_CACHES = 7,
    NEAR_WHOLE = 4 /* caches that simulated nodes and endpoints together may fill to be near */
};

/* Simulated nodes of this worker by node of the fabric. NULL: another worker's, or dead. */
struct plan {
    struct worker *w;
    uint32_t *node; /* [nodes]: this worker's, in the order of visits */
    uint32_t nodes;
    struct virtual_sim_node **of_node;
    struct route_builder routes;
};

static bool is_mine(const struct worker *w, uint32_t node)
{
    return w->m->layout.worker[node] == w->self && !w->m->layout.dead[node];
}

static unsigned planes_of(const struct hx_fabric *g, uint32_t node)
{
    return node < g->hosts ? g->planes : 1;
}

/* Tree switches of several planes share nothing, so each plane's is a simulated node. */
static unsigned copies_of(const struct hx_fabric *g, uint32_t node)
{
    return node < g->hosts ? 1 : g->planes;
}

static size_t sim_node_bytes(const struct hx_fabric *g, uint32_t node)
{
    return copies_of(g, node) * virtual_sim_node_bytes(planes_of(g, node), hx_fabric_ports(g, node), g->vcs);
}

static size_t node_table_bytes(const struct hx_fabric *g, uint32_t node)
{
    return (hx_fabric_route_bytes(g, node) + 7) & ~(size_t)7;
}

static uint32_t count_sim_nodes(const struct worker *w, size_t *bytes)
{
    const struct hx_fabric *g = w->m->g;
    uint32_t n = 0;
    for (uint32_t node = 0; node < g->nodes; node++) {
        if (!is_mine(w, node))
            continue;
        n += copies_of(g, node);
        *bytes += sim_node_bytes(g, node);
    }
    return n;
}

uint64_t build_bytes(const struct model *m)
{
    const struct hx_fabric *g = m->g;
    uint64_t bytes = 0;
    for (uint32_t node = 0; node < g->nodes; node++) {
        if (m->layout.dead[node])
            continue;
        bytes += sim_node_bytes(g, node);
        bytes += m->faults ? g->planes * node_table_bytes(g, node) : 0;
        bytes += node < g->hosts ? driver_bytes(m, node) : 0;
    }
    return bytes;
}

/* Chooses between near and far visits, and between early and late handover. */
static void place_sim_nodes(struct worker *w)
{
    const struct model *m = w->m;
    size_t bytes = 0;
    size_t endpoints = 0;
    for (uint32_t node = 0; node < m->g->nodes; node++) {
        bytes += m->layout.dead[node] ? 0 : sim_node_bytes(m->g, node);
        endpoints += m->layout.dead[node] || node >= m->g->hosts ? 0 : driver_bytes(m, node);
    }
    size_t cache = hx_processor_cache();
    bool fits = m->own_cores ? bytes / m->workers <= cache / 2 * 3 : bytes <= cache / 2;
    w->v.near = fits && (bytes + endpoints) / m->workers <= NEAR_WHOLE * cache;
    w->v.outbox.for_own = !w->v.near && bytes > AT_ONCE_BYTES + cache / 2 * AT_ONCE_HALF_CACHES;
}

/* ---- order of visits ---- */

/* Whether the node has a link to another worker's node. */
static bool at_border(const struct worker *w, uint32_t node)
{
    const struct layout *l = &w->m->layout;
    for (unsigned port = 0; l->workers > 1 && port < hx_fabric_ports(w->m->g, node); port++) {
        uint32_t far = hx_fabric_far(w->m->g, node, port).node;
        if (far != HX_NOWHERE && !l->dead[far] && l->worker[far] != w->self)
            return true;
    }
    return false;
}

static void add_node(struct plan *p, uint32_t node, bool border)
{
    if (is_mine(p->w, node) && at_border(p->w, node) == border)
        p->node[p->nodes++] = node;
}

/* A host precedes its attachment router, so that its packets are still in the cache there. */
static void add_nodes(struct plan *p, bool border)
{
    const struct hx_fabric *g = p->w->m->g;
    for (uint32_t node = 0; node < g->nodes; node++) {
        for (unsigned port = 0; node >= g->hosts && port < hx_fabric_ports(g, node); port++) {
            uint32_t host = hx_fabric_far(g, node, port).node;
            if (host < g->hosts && hx_fabric_attachment_router(g, host) == node)
                add_node(p, host, border);
        }
        if (node >= g->hosts || hx_fabric_attachment_router(g, node) == node)
            add_node(p, node, border);
    }
}

/* Border nodes come first, so that other workers get their packets early in the window. */
static void order_nodes(struct plan *p)
{
    p->node = hx_allocate(p->w->m->g->nodes, sizeof *p->node);
    add_nodes(p, true);
    add_nodes(p, false);
}

/* ---- links ---- */

static struct virtual_node *node_of(const struct plan *p, unsigned plane, uint32_t node)
{
    bool router = node >= p->w->m->g->hosts;
    struct virtual_sim_node *e = p->of_node[router ? node + (size_t)plane * p->w->m->g->nodes : node];
    return e ? &e->node[router ? 0 : plane] : NULL;
}

/* The same credit for each VC. */
static uint64_t lanes_of(uint32_t blocks, unsigned vcs)
{
    uint64_t lanes = 0;
    for (unsigned vc = 0; vc < vcs; vc++)
        lanes = hx_lane_set(lanes, vc, (uint16_t)blocks);
    return lanes;
}

static void bind_port(const struct plan *p, struct virtual_node *n, unsigned plane, uint32_t node, unsigned port)
{
    const struct model *m = p->w->m;
    const struct hx_fabric *g = m->g;
    struct virtual_worker *v = &p->w->v;
    struct hx_end far = hx_fabric_far(g, node, port);
    struct virtual_tx *tx = &n->hal.tx[port];
    struct virtual_rx *rx = &n->hal.rx[port];
    tx->link = model_link_number(m, plane, node, port);
    if (far.node == HX_NOWHERE || m->layout.dead[far.node])
        return;
    const struct virtual_timing *t = &v->timing;
    const struct virtual_link *link = &t->of[hx_fabric_port(g, node, port)->link_class];
    tx->kind = rx->kind = link;
    const struct virtual_node *other = node_of(p, plane, far.node);
    rx->link = model_link_number(m, plane, far.node, far.port);
    rx->linked = true;
    tx->far_worker = rx->from_worker = m->layout.worker[far.node];
    n->hal.tx[port].lanes = lanes_of(t->vc_blocks, t->vcs);
    n->hal.up |= (uint64_t)1 << port;
    if (other) {
        tx->far = &other->hal.rx[far.port];
        rx->from = &other->hal.tx[far.port];
    } else {
        v->tx[tx->link] = tx;
        v->rx[rx->link] = rx;
    }
}

/* Gives a host that is a router its cost of forwarding packets of other hosts. */
static void bind_forwarding(struct virtual_node *n, const struct hx_fabric *g, uint32_t node)
{
    const struct hx_forwarding *of = g->forwarding ? &g->forwarding[node - g->hosts] : NULL;
    if (!of || (of->delay_ns == 0 && of->gbps == 0))
        return;
    const struct hx_fabric_node *host = &g->node[of->host];
    n->hal.forwarding = virtual_arena_take(sizeof *n->hal.forwarding);
    *n->hal.forwarding = (struct virtual_forwarding){.delay = of->delay_ns * UINT64_C(1000),
                                                     .block = of->gbps ? virtual_timing_block(of->gbps) : 0,
                                                     .addr_hi = host->addr_hi,
                                                     .addr_lo = host->addr_lo};
    for (unsigned port = 0; port < n->hal.ports; port++) {
        uint32_t far = hx_fabric_far(g, node, port).node;
        n->hal.rx[port].forwards = far != HX_NOWHERE && far != of->host;
    }
}

/* Notes which inputs have a slower link than some output. */
static void compare_rates(struct virtual_node *n, const struct virtual_timing *t)
{
    uint32_t fastest = UINT32_MAX;
    for (uint64_t left = n->hal.up; left; left &= left - 1) {
        const struct virtual_link *kind = n->hal.tx[__builtin_ctzll(left)].kind;
        if (kind != &t->endpoint && kind->rate.blocks[1] < fastest)
            fastest = kind->rate.blocks[1];
    }
    for (unsigned port = 0; port < n->hal.ports; port++)
        n->hal.rx[port].slower = n->hal.rx[port].kind->rate.blocks[1] > fastest;
}

static void bind_node(const struct plan *p, unsigned plane, uint32_t node)
{
    struct virtual_node *n = node_of(p, plane, node);
    for (unsigned port = 0; port < n->hal.ports; port++)
        bind_port(p, n, plane, node, port);
    compare_rates(n, &p->w->v.timing);
    if (node >= p->w->m->g->hosts)
        bind_forwarding(n, p->w->m->g, node);
    if (node < p->w->m->g->hosts) {
        n->hal.tx[HX_LOCAL].lanes = lanes_of(HX_MAX_ROOM, p->w->m->g->vcs);
        n->hal.up |= (uint64_t)1 << HX_LOCAL;
    }
    for (uint64_t left = n->hal.up; left; left &= left - 1)
        n->hal.tx[__builtin_ctzll(left)].opens = 0;
}

/* Tells the channel which workers have nodes at the far ends of links. Captured frames go from all ranks to rank 0. */
static void meet_neighbours(const struct plan *p)
{
    const struct layout *l = &p->w->m->layout;
    bool *neighbour = p->w->neighbour = hx_allocate(l->workers, sizeof *neighbour);
    bool frames_cross = p->w->m->recording && model_is_of_ranks(p->w->m);
    for (uint32_t n = 0; n < p->nodes; n++) {
        for (unsigned port = 0; port < hx_fabric_ports(p->w->m->g, p->node[n]); port++) {
            uint32_t far = hx_fabric_far(p->w->m->g, p->node[n], port).node;
            if (far != HX_NOWHERE && !l->dead[far])
                neighbour[l->worker[far]] = true;
        }
    }
    for (unsigned w = 0; frames_cross && w < l->workers; w++)
        neighbour[w] = neighbour[w] || w == 0 || p->w->self == 0;
    virtual_channel_meet(p->w->v.channel, neighbour);
}

/* ---- nodes ---- */

static void make_node(struct plan *p, unsigned plane, uint32_t node)
{
    struct worker *w = p->w;
    struct virtual_node *n = node_of(p, plane, node);
    n->sw.job = node < w->m->g->hosts ? layout_job_of(w->m->spec, node) : HX_NO_JOB;
    route_tables_make(&p->routes, w->m, node, n);
    /* Ties break differently in each switch, and the same in each run. */
    n->sw.tie = (w->m->settings.seed + 1) * UINT64_C(0xD1342543DE82EF95) +
                ((uint64_t)node * HX_MAX_PLANES + plane) * UINT64_C(0xA24BAED4963EE407);
}

/* Makes the simulated nodes of a node. Returns the rest of the memory. */
static uint8_t *make_sim_node(struct plan *p, uint32_t node, uint8_t *at)
{
    struct worker *w = p->w;
    const struct hx_fabric *g = w->m->g;
    bool router = node >= g->hosts;
    unsigned ports = hx_fabric_ports(g, node);
    for (unsigned copy = 0; copy < copies_of(g, node); copy++) {
        struct virtual_sim_node *e = virtual_sim_node_init(at, &w->v, w->sim_nodes, planes_of(g, node), ports, router);
        at += virtual_sim_node_bytes(planes_of(g, node), ports, g->vcs);
        p->of_node[node + (router ? (size_t)copy * g->nodes : 0)] = e;
        w->sim_node[w->sim_nodes++] = e;
    }
    return at;
}

static void open_rows(struct plan *p)
{
    const struct hx_fabric *g = p->w->m->g;
    size_t switches[HX_MAX_RADIX + 1] = {0};
    for (uint32_t n = 0; n < p->nodes; n++)
        switches[hx_fabric_ports(g, p->node[n])] += g->planes;
    for (unsigned ports = 0; ports <= HX_MAX_RADIX; ports++)
        if (switches[ports])
            virtual_rows_open(&p->w->v, ports, switches[ports]);
}

static void make_sim_nodes(struct plan *p)
{
    open_rows(p);
    uint8_t *at = p->w->memory;
    for (uint32_t n = 0; n < p->nodes; n++) {
        at = make_sim_node(p, p->node[n], at);
        if (at_border(p->w, p->node[n]))
            p->w->border = p->w->sim_nodes;
    }
}

static const uint32_t *number_peers(const struct hx_fabric *g)
{
    uint32_t *number = virtual_arena_take(g->hosts * sizeof *number);
    for (uint32_t rank = 0; rank < g->hosts; rank++)
        number[rank] = hx_peer_rank(g->digits[0], g->node[rank].addr_hi, g->node[rank].addr_lo);
    return number;
}

static const uint64_t *injections(const struct model *m)
{
    uint64_t *block = virtual_arena_take_small(m->g->hosts * sizeof *block);
    for (uint32_t rank = 0; rank < m->g->hosts; rank++)
        block[rank] = driver_block(m, rank);
    return block;
}

static void make_drivers(const struct plan *p)
{
    struct worker *w = p->w;
    const struct model *m = w->m;
    const struct hx_fabric *g = m->g;
    for (uint32_t rank = 0; rank < g->hosts; rank++)
        w->accelerators += is_mine(w, rank);
    w->driver = virtual_arena_take(w->accelerators * sizeof *w->driver);
    w->v.peer_number = number_peers(g);
    w->v.injects = m->timing.train > 1 ? injections(m) : NULL;
    uint32_t drivers = 0;
    for (uint32_t n = 0; n < p->nodes; n++) {
        if (p->node[n] < g->hosts)
            driver_start(&w->driver[drivers++], w, p->of_node[p->node[n]], p->node[n]);
    }
}

void build_worker(struct worker *w, const struct model *m, unsigned self)
{
    const struct hx_fabric *g = m->g;
    *w = (struct worker){.m = m, .self = self, .area = &m->area[self], .progress = &m->progress[self]};
    open_loop_begin(w);
    size_t bytes = 0;
    uint32_t sim_nodes = count_sim_nodes(w, &bytes);
    size_t links = (size_t)g->planes * m->layout.links;
    w->sim_node = hx_allocate(sim_nodes + 1U, sizeof(struct virtual_sim_node *));
    w->visit = hx_allocate(sim_nodes + 2 * VIRTUAL_PREFETCH_STAGES, sizeof *w->visit);
    w->memory = virtual_arena_take(bytes);
    place_sim_nodes(w);
    w->v.timing = m->timing;
    w->v.channel = m->channel;
    w->v.drops = w->area->drops;
    w->v.stalls = w->area->stalls;
    w->v.rx = virtual_arena_take(links * sizeof(struct virtual_rx *));
    w->v.tx = virtual_arena_take(links * sizeof(struct virtual_tx *));
    virtual_pool_open(&w->v.pool, m->settings.verify ? m->timing.train : 0);
    w->v.tap = m->recording ? recording_tap(m->recording, m, self) : NULL;
    virtual_wheel_open(&w->v.wheel, sim_nodes, m->timing.window);
    struct plan p = {.w = w, .routes = route_builder_open(m)};
    p.of_node = hx_allocate((size_t)g->planes * g->nodes, sizeof(struct virtual_sim_node *));
    order_nodes(&p);
    make_sim_nodes(&p);
    for (unsigned plane = 0; plane < g->planes; plane++) {
        for (uint32_t n = 0; n < p.nodes; n++) {
            bind_node(&p, plane, p.node[n]);
            make_node(&p, plane, p.node[n]);
        }
    }
    make_drivers(&p);
    meet_neighbours(&p);
    if (m->faults)
        w->faults = faults_start(w, p.of_node);
    if (m->cuts_repeats)
        w->repeats = repeats_open(w);
    if (m->settings.fast_forward > 0)
        forward_open(w);
    free(p.of_node);
    free(p.node);
    route_builder_close(&p.routes);
}
