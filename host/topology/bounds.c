/* bounds.c - distances, link loads and cost of a fabric's graph (host/topology/bounds.h). */
#include "host/topology/bounds.h"

#include "host/bounds.h"

#include <stdlib.h>
#include <string.h>

enum { SWITCH_USD = 14280, DAC_USD = 272, AOC_USD = 603 };
enum { LINK_GBPS = 400 }; /* of a link whose class says no other */

/* ---- distances ---- */

unsigned hx_fabric_distance(const struct hx_fabric *f, uint32_t from, uint32_t to)
{
    if (from == to)
        return 0;
    if (f->topology->distance)
        return f->topology->distance(f, from, to);
    return 2 + hx_router_distance(f, hx_fabric_far(f, from, HX_E).node, hx_fabric_far(f, to, HX_E).node);
}

/* A HammingMesh's dimensions are independent: 16,384 accelerators need no look at every pair. */
static struct hx_distances mesh_distances(const struct hx_geometry *g)
{
    struct hx_distances all = {.diameter = hx_diameter(g)};
    double sum = 0;
    for (unsigned from = 0; from < g->columns; from++)
        for (unsigned to = 0; to < g->columns; to++)
            sum += (double)g->rows * g->rows * hx_distance(g, from, 0, to, 0);
    for (unsigned from = 0; from < g->rows; from++)
        for (unsigned to = 0; to < g->rows; to++)
            sum += (double)g->columns * g->columns * hx_distance(g, 0, from, 0, to);
    all.router_diameter = all.diameter;
    all.average = g->accelerators > 1 ? sum / ((double)g->accelerators * (g->accelerators - 1.0)) : 0;
    return all;
}

struct hx_distances hx_fabric_distances(const struct hx_fabric *f)
{
    if (f->mesh.nodes)
        return mesh_distances(&f->mesh);
    struct hx_distances all = {0, 0, 0};
    uint64_t sum = 0;
    for (uint32_t from = 0; from < f->hosts; from++) {
        for (uint32_t to = 0; to < f->hosts; to++) {
            unsigned links = hx_fabric_distance(f, from, to);
            all.diameter = links > all.diameter ? links : all.diameter;
            sum += links;
        }
    }
    if (f->hosts > 1)
        all.average = (double)sum / ((double)f->hosts * (f->hosts - 1.0));
    bool hang = f->nodes > f->hosts && all.diameter >= 2;
    all.router_diameter = all.diameter - (hang ? 2 : 0);
    return all;
}

/* ---- loads ---- */

/* Traffic to one router's hosts, or to one host that forwards, over the ways that the tables allow. */
struct spread {
    const struct hx_fabric *f;
    struct hx_route *route; /* [nodes] */
    void **memory;
    double *load;    /* [ports] */
    double *through; /* [nodes]: what still has to go on from there */
    uint32_t *order; /* nodes, those first that others send to */
    uint8_t *seen;
    uint32_t count;
};

static uint64_t ways(const struct spread *s, uint32_t node, unsigned d0, unsigned d1)
{
    const struct hx_route *r = &s->route[node];
    return r->is_router ? r->d0_ports[d0] & r->d1_ports[d1] : r->x_table[d0] & r->y_table[d1];
}

/* Ports to other nodes than hosts that are not it. */
static uint64_t onward(const struct spread *s, uint32_t node, uint32_t to)
{
    const struct hx_fabric_node *at = &s->f->node[to];
    uint64_t set = node == to ? 0 : ways(s, node, at->d0, at->d1);
    return hx_is_host(s->f, node) ? set & ((1U << HX_LOCAL) - 1) : set;
}

/* Depth first, so that a node comes after all it sends to. */
static void sort_from(struct spread *s, uint32_t start, uint32_t to, uint32_t *stack, uint64_t *left)
{
    uint32_t depth = 0;
    stack[depth++] = start;
    left[start] = onward(s, start, to);
    s->seen[start] = 1;
    while (depth) {
        uint32_t node = stack[depth - 1];
        if (!left[node]) {
            s->order[s->count++] = node;
            depth--;
            continue;
        }
        uint32_t far = hx_fabric_far(s->f, node, (unsigned)__builtin_ctzll(left[node])).node;
        left[node] &= left[node] - 1;
        if (far == HX_NOWHERE || s->seen[far])
            continue;
        s->seen[far] = 1;
        left[far] = onward(s, far, to);
        stack[depth++] = far;
    }
}

static void spread_to(struct spread *s, uint32_t to, double weight, uint32_t *stack, uint64_t *left)
{
    const struct hx_fabric *f = s->f;
    s->count = 0;
    memset(s->seen, 0, f->nodes);
    memset(s->through, 0, f->nodes * sizeof *s->through);
    for (uint32_t host = 0; host < f->hosts; host++) {
        if (host == to)
            continue;
        s->through[host] = weight;
        if (!s->seen[host])
            sort_from(s, host, to, stack, left);
    }
    while (s->count) {
        uint32_t node = s->order[--s->count];
        uint64_t set = onward(s, node, to);
        double each = set ? s->through[node] / __builtin_popcountll(set) : 0;
        for (; set; set &= set - 1) {
            unsigned port = (unsigned)__builtin_ctzll(set);
            uint32_t far = hx_fabric_far(f, node, port).node;
            s->load[f->node[node].first_port + port] += each;
            if (far != HX_NOWHERE)
                s->through[far] += each;
        }
    }
}

static double fullest(const struct spread *s)
{
    double most = 0;
    for (uint32_t port = 0; port < s->f->ports; port++) {
        const struct hx_link_class *c = &s->f->link_class[s->f->port[port].link_class];
        double rate = c->gbps ? (double)c->gbps / LINK_GBPS : 1;
        most = s->load[port] / rate > most ? s->load[port] / rate : most;
    }
    return most;
}

static double bound_by_loads(const struct hx_fabric *f)
{
    struct spread s = {.f = f,
                       .route = hx_allocate(f->nodes, sizeof *s.route),
                       .memory = hx_allocate(f->nodes, sizeof *s.memory),
                       .load = hx_allocate(f->ports, sizeof *s.load),
                       .through = hx_allocate(f->nodes, sizeof *s.through),
                       .order = hx_allocate(f->nodes, sizeof *s.order),
                       .seen = hx_allocate(f->nodes, 1)};
    uint32_t *stack = hx_allocate(f->nodes, sizeof *stack);
    uint64_t *left = hx_allocate(f->nodes, sizeof *left);
    for (uint32_t node = 0; node < f->nodes; node++) {
        s.memory[node] = hx_allocate(1, hx_fabric_route_bytes(f, node));
        hx_fabric_route(&s.route[node], f, node, (struct hx_barred){NULL}, UINT64_MAX, s.memory[node]);
    }
    for (uint32_t to = 0; to < f->hosts; to++)
        spread_to(&s, to, 1, stack, left);
    double most = fullest(&s);
    for (uint32_t node = 0; node < f->nodes; node++)
        free(s.memory[node]);
    free(s.route);
    free(s.memory);
    free(s.load);
    free(s.through);
    free(s.order);
    free(s.seen);
    free(stack);
    free(left);
    return most > 0 ? (f->hosts - 1.0) / hx_fabric_injection(f, LINK_GBPS) / most : 1;
}

double hx_fabric_alltoall_bound(const struct hx_fabric *f)
{
    double bound = f->mesh.nodes                 ? hx_alltoall_bound(&f->mesh)
                   : f->topology->alltoall_bound ? f->topology->alltoall_bound(f)
                                                 : bound_by_loads(f);
    return bound < 1 ? bound : 1;
}

/* ---- cost ---- */

struct hx_bill hx_fabric_bill(const struct hx_fabric *f)
{
    struct hx_bill bill = {.switches = (uint64_t)f->switches * f->bought_planes};
    for (uint32_t port = 0; port < f->ports; port++) {
        if (f->port[port].far.node != HX_NOWHERE)
            bill.cables[f->link_class[f->port[port].link_class].kind]++;
    }
    for (unsigned kind = 0; kind < HX_LINK_KINDS; kind++)
        bill.cables[kind] = bill.cables[kind] / 2 * f->bought_planes;
    bill.usd = bill.switches * SWITCH_USD + bill.cables[HX_DAC] * DAC_USD + bill.cables[HX_AOC] * AOC_USD;
    return bill;
}
