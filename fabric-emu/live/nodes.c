/* nodes.c - builds the nodes of a worker (nodes.h). */
#include "nodes.h"
#include "accelerator.h"
#include "base/error.h"
#include "base/huge.h"
#include "bridge.h"
#include "conditions.h"
#include "reroute.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* ---- links ---- */

static struct shm_tx sender(struct shm_link *link, unsigned peer)
{
    return (struct shm_tx){.link = link, .head = link->heads, .peer = peer};
}

static struct shm_rx receiver(struct shm_link *link, uint64_t slots, unsigned peer)
{
    struct shm_rx rx = {.link = link, .tail = link->tails, .seen = link->tails, .ahead = slots, .peer = peer};
    memcpy(rx.gone, link->gone, sizeof rx.gone);
    rx.any_gone = link->gone[0] | link->gone[1] | link->gone[2] | link->gone[3];
    return rx;
}

static void bind_links(struct worker *w, struct node *n, unsigned ports)
{
    const struct fab_fabric *f = w->f;
    for (unsigned port = 0; port < ports; port++) {
        struct shm_link *in = fab_incoming(f, n->plane, n->id, port);
        struct hx_end far = hx_fabric_far(f->g, n->id, port);
        unsigned peer = far.node == HX_NOWHERE ? w->self : f->layout.worker[far.node];
        n->hal.brings |= (uint64_t)(in != NULL) << port;
        n->hal.tx[port] = sender(fab_link(f, n->plane, n->id, port), peer);
        /* An unconnected port has a link too, so that a commit needs no test. */
        n->hal.rx[port] = receiver(in ? in : n->hal.tx[port].link, n->hal.slots, peer);
    }
}

/* Builds routes for the ports `up` (conditions_ports_up()). */
static void build_routes(struct worker *w, struct node *n, uint64_t up)
{
    n->hal.up = up;
    reroute_build(w, n->plane, n->id, up, &n->sw.route, n->tables, &n->around);
}

static void build_node(struct worker *w, struct node *n, unsigned plane, uint32_t id)
{
    const struct fab_fabric *f = w->f;
    unsigned ports = hx_fabric_ports(f->g, id);
    n->id = id;
    n->plane = plane;
    n->hal = (struct hal_switch){.worker = &w->shm,
                                 .ports = ports,
                                 .size = f->slots,
                                 .slots = shm_link_slots(f->g->vcs, f->slots),
                                 .drops = w->f->area[w->self].drops,
                                 .stalls = w->f->area[w->self].stalls};
    n->hal.tx = hx_allocate(ports, sizeof *n->hal.tx);
    n->hal.rx = hx_allocate(ports, sizeof *n->hal.rx);
    n->tables = hx_allocate(1, hx_fabric_route_bytes(f->g, id));
    bind_links(w, n, ports);
    uint16_t job = id < f->g->hosts ? layout_job_of(&f->spec, id) : HX_NO_JOB;
    hx_switch_init(&n->sw, ports, f->g->vcs, job, &n->hal, hx_allocate(1, hx_switch_bytes(ports, f->g->vcs)));
    build_routes(w, n, conditions_ports_up(w, plane, id));
}

/* ---- accelerators ---- */

/* Whether the worker runs the node's firmware. */
static bool runs(const struct worker *w, uint32_t id)
{
    const struct fab_fabric *f = w->f;
    return f->layout.worker[id] == w->self && !f->layout.dead[id] && (id >= f->g->hosts || !fab_is_external(f, id));
}

/* `nodes`: its switches, by plane. */
static void build_accelerator(struct worker *w, struct accelerator *a, uint32_t rank, const struct node *nodes)
{
    const struct fab_fabric *f = w->f;
    struct hx_coordinate at = hx_address_of(f->g, rank);
    *a = (struct accelerator){.report = &f->accelerator[rank],
                              .area = &f->area[w->self],
                              .job = &f->job[f->jobs.slot[rank]],
                              .worker = w,
                              .rank = rank,
                              .gx = (uint16_t)at.addr_hi,
                              .gy = (uint16_t)at.addr_lo};
    a->hal = (struct hal_endpoint){.worker = &w->shm,
                                   .planes = (uint8_t)f->g->planes,
                                   .vcs = f->g->vcs,
                                   .size = f->slots,
                                   .drops = f->area[w->self].drops,
                                   .user.of = a};
    for (unsigned plane = 0; plane < f->g->planes; plane++) {
        a->hal.inject[plane] = sender(fab_inject_link(f, plane, rank), w->self);
        a->hal.eject[plane] =
            receiver(fab_link(f, plane, rank, HX_LOCAL), shm_link_slots(f->g->vcs, f->slots), w->self);
        a->hal.around[plane] = f->g->mesh.nodes && f->g->vcs > HX_ESCAPE_VC ? &nodes[plane].sw.route : NULL;
    }
    accelerator_start(a, w->endpoints + w->endpoints_used);
    w->endpoints_used += accelerator_bytes(w, rank);
}

enum { LITTLE = 8 << 20 /* bytes of endpoints below which huge pages are used */ };

/* Maps memory for endpoints with room for every peer; most peers may never be met. */
static void reserve_endpoints(struct worker *w)
{
    const struct fab_fabric *f = w->f;
    for (uint32_t id = 0; id < f->g->hosts; id++)
        w->endpoints_bytes += runs(w, id) ? accelerator_bytes(w, id) : 0;
    if (w->endpoints_bytes == 0)
        return;
    bool little = w->endpoints_bytes <= LITTLE;
    w->endpoints_bytes = little ? hx_huge_whole(w->endpoints_bytes) : w->endpoints_bytes;
    w->endpoints = hx_huge_map(w->endpoints_bytes, little);
    if (!w->endpoints)
        hx_die(HX_EXIT_ENVIRONMENT, f->spec.source, "out of memory: %zu MiB for the endpoints of a worker were refused",
               w->endpoints_bytes >> 20);
}

/* ---- pools ---- */

static void bind_pools(struct worker *w)
{
    const struct fab_fabric *f = w->f;
    w->shm = (struct shm_worker){.step = {f->arena.base, &f->area[w->self].redo, 0},
                                 .self = w->self,
                                 .workers = f->workers,
                                 .ring_mask = f->ring_size - 1,
                                 .per_home = f->per_home,
                                 .reserve = f->per_home / 8,
                                 .buffers = f->buffers,
                                 .injected_ns = f->injected_ns,
                                 .last_from = w->self};
    for (unsigned other = 0; other < f->workers; other++) {
        w->shm.give[other].ring = fab_ring(f, w->self, other);
        w->shm.give[other].head = w->shm.give[other].ring->head;
        w->shm.take[other].ring = fab_ring(f, other, w->self);
        w->shm.take[other].tail = w->shm.take[other].ring->tail;
    }
}

static uint64_t workers_down(const struct fab_fabric *f)
{
    uint64_t down = 0;
    for (unsigned other = 0; other < f->workers; other++)
        down |= (uint64_t)fab_worker_is_down(f, other) << other;
    return down;
}

static uint32_t rank_of_external(const struct worker *w, unsigned external)
{
    const struct hx_external *e = &w->f->spec.external[external];
    return hx_host_at(w->f->g, e->addr_hi, e->addr_lo);
}

static bool bridges(const struct worker *w, unsigned external)
{
    return w->f->layout.worker[rank_of_external(w, external)] == w->self;
}

static void count_nodes(struct worker *w)
{
    const struct fab_fabric *f = w->f;
    for (uint32_t id = 0; id < f->g->nodes; id++) {
        w->switch_nodes += runs(w, id) ? f->g->planes : 0U;
        w->accelerators += id < f->g->hosts && runs(w, id);
    }
    for (unsigned external = 0; external < f->spec.externals; external++)
        w->bridges += bridges(w, external);
    w->accelerator_nodes = w->accelerators * f->g->planes;
    w->nodes = w->switch_nodes + w->bridges;
}

static void build_bridges(struct worker *w)
{
    struct bridge *bridge = w->bridge;
    struct node *node = w->node + w->switch_nodes;
    for (unsigned external = 0; external < w->f->spec.externals; external++) {
        if (!bridges(w, external))
            continue;
        build_node(w, node, w->f->spec.external[external].plane, rank_of_external(w, external));
        bridge_start(bridge++, w, external, node++);
    }
}

/* Counts a built node. Returns false: the run was stopped. */
static bool count_built(const struct worker *w)
{
    atomic_fetch_add_explicit(&w->f->area[w->self].built, 1, memory_order_relaxed);
    return atomic_load_explicit(&w->f->control->phase, memory_order_relaxed) != FAB_STOPPING;
}

static void tell_externals(struct worker *w)
{
    for (unsigned i = 0; i < w->bridges; i++)
        bridge_tell(&w->bridge[i], reroute_dead(w, w->bridge[i].node->plane));
}

bool node_build_all(struct worker *w)
{
    const struct fab_fabric *f = w->f;
    bind_pools(w);
    w->down = workers_down(f);
    w->gone = atomic_load(&f->control->gone);
    w->paths_since = shm_clock_ns(w->clock);
    f->area[w->self].hit = 0; /* begun-again messages are counted anew */
    (void)reroute_follow(w);
    count_nodes(w);
    w->node = hx_allocate(w->nodes + 1U, sizeof *w->node);
    w->accelerator = hx_allocate(w->accelerators + 1U, sizeof *w->accelerator);
    w->bridge = hx_allocate(w->bridges + 1U, sizeof *w->bridge);
    reserve_endpoints(w);
    struct node *node = w->node;
    struct accelerator *accelerator = w->accelerator;
    for (uint32_t id = 0; id < f->g->nodes; id++) {
        for (unsigned plane = 0; plane < f->g->planes && runs(w, id); plane++)
            build_node(w, node++, plane, id);
        if (id < f->g->hosts && runs(w, id))
            build_accelerator(w, accelerator++, id, node - f->g->planes);
        if (runs(w, id) && !count_built(w))
            return false;
    }
    build_bridges(w);
    tell_externals(w);
    conditions_follow(w);
    return true;
}

void node_free_all(struct worker *w)
{
    conditions_end(w);
    for (unsigned i = 0; i < w->nodes; i++) {
        around_node_end(&w->node[i].around);
        HX_FREE(w->node[i].hal.tx, w->node[i].hal.rx, w->node[i].tables, w->node[i].sw.input);
    }
    reroute_end(w);
    for (unsigned i = 0; i < w->accelerators; i++)
        accelerator_stop(&w->accelerator[i]);
    for (unsigned i = 0; i < w->bridges; i++)
        bridge_stop(&w->bridge[i]);
    if (w->endpoints_bytes)
        (void)munmap(w->endpoints, w->endpoints_bytes);
    HX_FREE(w->node, w->accelerator, w->bridge);
}

/* Counts packets that wait for ports with links closed as planned. They take new routes. */
static void count_rerouted(const struct worker *w, const struct node *n, uint64_t closing)
{
    uint32_t first = fab_first_port(w->f, n->plane, n->id);
    for (; closing; closing &= closing - 1) {
        unsigned port = (unsigned)__builtin_ctzll(closing);
        const struct shm_condition c = fab_condition(w->f, first + port);
        if (c.closed && !c.down)
            w->f->area[w->self].rerouted += hx_switch_waiting_for(&n->sw, port);
    }
}

void node_reroute_all(struct worker *w)
{
    w->down = workers_down(w->f);
    w->gone = atomic_load(&w->f->control->gone);
    w->paths_since = shm_clock_ns(w->clock);
    for (unsigned i = 0; i < w->accelerators; i++)
        accelerator_paths_changed(&w->accelerator[i]);
    unsigned searched = reroute_follow(w);
    for (unsigned i = 0; i < w->switch_nodes; i++) {
        struct node *n = &w->node[i];
        uint64_t up = conditions_ports_up(w, n->plane, n->id);
        if (!(searched >> n->plane & 1U) && n->hal.up == up)
            continue;
        count_rerouted(w, n, n->hal.up & ~up);
        build_routes(w, n, up);
        hx_switch_reroute(&n->sw);
    }
    for (unsigned i = w->switch_nodes; i < w->nodes; i++) /* a bridge's switch routes nothing */
        w->node[i].hal.up = conditions_ports_up(w, w->node[i].plane, w->node[i].id);
    tell_externals(w);
}
