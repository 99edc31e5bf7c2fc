/* bounds.c - distances, link loads and cost of a fabric's graph (host/topology/bounds.h). */
#include "host/topology/bounds.h"

#include "host/bounds.h"
#include "host/topology/tables.h"
#include "host/topology/ways.h"

#include <stdlib.h>
#include <string.h>

enum { SWITCH_USD = 14280, DAC_USD = 272, AOC_USD = 603 };

/* ---- distances ---- */

uint32_t hx_fabric_seat(const struct hx_fabric *f, uint32_t host)
{
    unsigned links = 0;
    uint32_t far = HX_NOWHERE;
    for (unsigned port = 0; port < HX_LOCAL; port++) {
        uint32_t next = hx_fabric_far(f, host, port).node;
        links += next != HX_NOWHERE;
        far = next != HX_NOWHERE ? next : far;
    }
    return links == 1 && !hx_is_host(f, far) ? far : host;
}

unsigned hx_fabric_distance(const struct hx_fabric *f, uint32_t from, uint32_t to)
{
    if (from == to)
        return 0;
    if (f->ways) {
        uint32_t router = hx_fabric_far(f, from, HX_E).node;
        unsigned links = router == HX_NOWHERE
                             ? HX_NO_WAY
                             : f->ways->distance[(size_t)f->node[to].d0 * f->ways->routers + router - f->hosts];
        return links == HX_NO_WAY ? HX_CUT_OFF : 2 + links;
    }
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

/* Hosts of one router are alike: it is enough to go by seats, with their hosts as weight. */
struct seats {
    uint32_t count;
    uint32_t living;  /* hosts that sit anywhere */
    uint32_t *node;   /* [count] */
    uint32_t *host;   /* [count]: one that sits there */
    uint32_t *weight; /* [count]: how many do */
};

static void take_seats(struct seats *s, const struct hx_fabric *f)
{
    uint32_t *number = hx_allocate(f->nodes, sizeof *number); /* + 1; 0: none yet */
    *s = (struct seats){.node = hx_allocate(f->hosts, sizeof *s->node),
                        .host = hx_allocate(f->hosts, sizeof *s->host),
                        .weight = hx_allocate(f->hosts, sizeof *s->weight)};
    for (uint32_t host = 0; host < f->hosts; host++) {
        uint32_t seat = hx_fabric_seat(f, host);
        if (f->failed && f->failed[host])
            continue;
        s->living++;
        if (number[seat] == 0) {
            s->node[s->count] = seat;
            s->host[s->count] = host;
            number[seat] = ++s->count;
        }
        s->weight[number[seat] - 1]++;
    }
    free(number);
}

static void free_seats(struct seats *s)
{
    free(s->node);
    free(s->host);
    free(s->weight);
}

/* Sum over all pairs between which there is a way, whose number is counted in *reached. */
static uint64_t pair_by_pair(const struct hx_fabric *f, unsigned *longest, uint64_t *reached)
{
    struct seats s;
    uint64_t sum = 0;
    *longest = 0;
    *reached = 0;
    take_seats(&s, f);
    for (uint32_t from = 0; from < s.count; from++) {
        uint64_t pairs = (uint64_t)s.weight[from] * (s.weight[from] - 1);
        sum += 2 * pairs; /* a host's link and that of another beside it */
        *reached += pairs;
        *longest = pairs && *longest < 2 ? 2 : *longest;
        for (uint32_t to = from + 1; to < s.count; to++) { /* as far as back */
            unsigned links = hx_fabric_distance(f, s.host[from], s.host[to]);
            if (links == HX_CUT_OFF)
                continue;
            pairs = (uint64_t)2 * s.weight[from] * s.weight[to];
            *reached += pairs;
            *longest = links > *longest ? links : *longest;
            sum += links * pairs;
        }
    }
    free_seats(&s);
    return sum;
}

struct hx_distances hx_fabric_distances(const struct hx_fabric *f)
{
    if (f->mesh.nodes)
        return mesh_distances(&f->mesh);
    struct hx_distances all = {0, 0, 0};
    uint64_t reached = (uint64_t)f->hosts * (f->hosts - 1);
    uint64_t sum = f->topology->distances && !f->ways ? f->topology->distances(f, &all.diameter)
                                                      : pair_by_pair(f, &all.diameter, &reached);
    if (reached)
        all.average = (double)sum / (double)reached;
    bool hang = f->nodes > f->hosts && all.diameter >= 2;
    all.router_diameter = all.diameter - (hang ? 2 : 0);
    return all;
}

/* ---- loads ---- */

/* Traffic to one router's hosts, or to one host that forwards, over the ways that the tables allow. */
struct spread {
    const struct hx_fabric *f;
    struct seats seats;
    struct hx_tables tables;
    uint32_t *far;   /* [ports]: the node behind each. A fabric's own ports are three times as long */
    double *load;    /* [ports] */
    double *through; /* [nodes]: what still has to go on from there */
    double *passed;  /* [nodes]: what others sent through it, to all destinations */
    uint32_t *order; /* nodes, those first that others send to */
    uint8_t *seen;
    uint32_t count;
    bool shortest;    /* all ways are shortest ones between routers, whose distances are known */
    uint32_t first;   /* of the seats in `onward` */
    uint64_t *onward; /* [BLOCK][nodes]: ports on ways to each */
};

/* The tables of a large fabric fit into no cache, and a destination has an entry in each of them: so they are gone through
 * once for so many destinations, which lie beside each other there. */
enum { BLOCK = 64 };

static void read_block(struct spread *s, uint32_t first)
{
    const struct seats *seats = &s->seats;
    s->first = first;
    for (uint32_t node = 0; node < s->f->nodes; node++) {
        if (hx_is_host(s->f, node) && hx_fabric_seat(s->f, node) != node)
            continue; /* a host that hangs: on the way to nowhere */
        for (uint32_t i = 0; i < BLOCK && first + i < seats->count; i++)
            s->onward[(size_t)i * s->f->nodes + node] =
                hx_tables_onward(&s->tables, node, seats->node[first + i], seats->host[first + i]);
    }
}

/* Depth first, so that a node comes after all it sends to. */
static void sort_from(struct spread *s, uint32_t start, const uint64_t *onward, uint32_t *stack, uint64_t *left)
{
    uint32_t depth = 0;
    stack[depth++] = start;
    left[start] = onward[start];
    s->seen[start] = 1;
    while (depth) {
        uint32_t node = stack[depth - 1];
        if (!left[node]) {
            s->order[s->count++] = node;
            depth--;
            continue;
        }
        uint32_t far = s->far[s->f->node[node].first_port + (unsigned)__builtin_ctzll(left[node])];
        left[node] &= left[node] - 1;
        if (far == HX_NOWHERE || s->seen[far])
            continue;
        s->seen[far] = 1;
        left[far] = onward[far];
        stack[depth++] = far;
    }
}

/* Likewise where all ways are shortest ones between routers: those nearest to the seat stand first. */
static void sort_by_distance(struct spread *s, uint32_t seat)
{
    uint32_t hosts = s->f->hosts;
    uint32_t routers = s->f->nodes - hosts;
    const uint8_t *distance = s->f->distance + (size_t)(seat - hosts) * routers;
    uint32_t first[UINT8_MAX + 2] = {0};
    for (uint32_t router = 0; router < routers; router++)
        first[distance[router] + 1]++;
    for (unsigned links = 1; links <= UINT8_MAX; links++)
        first[links] += first[links - 1];
    s->count = first[UINT8_MAX]; /* what has no way stands behind them */
    for (uint32_t router = 0; router < routers; router++)
        s->order[first[distance[router]]++] = hosts + router;
}

/* What all hosts send to those of one seat, one unit to each. */
static void spread_to(struct spread *s, uint32_t number, uint32_t *stack, uint64_t *left)
{
    const struct hx_fabric *f = s->f;
    const struct seats *seats = &s->seats;
    const uint64_t *onward = s->onward + (size_t)(number - s->first) * f->nodes;
    s->count = 0;
    memset(s->seen, 0, f->nodes);
    memset(s->through, 0, f->nodes * sizeof *s->through);
    if (s->shortest)
        sort_by_distance(s, seats->node[number]);
    for (uint32_t from = 0; from < seats->count; from++) {
        if (from == number)
            continue;
        s->through[seats->node[from]] = (double)seats->weight[from] * seats->weight[number];
        s->passed[seats->node[from]] -= s->through[seats->node[from]];
        if (!s->shortest && !s->seen[seats->node[from]])
            sort_from(s, seats->node[from], onward, stack, left);
    }
    while (s->count) {
        uint32_t node = s->order[--s->count];
        uint64_t set = onward[node];
        double each = set ? s->through[node] / __builtin_popcountll(set) : 0;
        s->passed[node] += set ? s->through[node] : 0;
        for (; set; set &= set - 1) {
            uint32_t port = f->node[node].first_port + (unsigned)__builtin_ctzll(set);
            uint32_t far = s->far[port];
            s->load[port] += each;
            if (far != HX_NOWHERE)
                s->through[far] += each;
        }
    }
}

/* A host that hangs on a router has all that it sends and gets on its one link. */
static void load_own_links(struct spread *s)
{
    const struct hx_fabric *f = s->f;
    for (uint32_t host = 0; host < f->hosts; host++) {
        for (unsigned port = 0; port < HX_LOCAL && hx_fabric_seat(f, host) != host; port++) {
            struct hx_end far = hx_fabric_far(f, host, port);
            if (far.node == HX_NOWHERE)
                continue;
            s->load[f->node[host].first_port + port] = s->seats.living - 1.0;
            s->load[f->node[far.node].first_port + far.port] = s->seats.living - 1.0;
        }
    }
}

static double fullest(const struct spread *s)
{
    double most = 0;
    for (uint32_t port = 0; port < s->f->ports; port++) {
        const struct hx_link_class *c = &s->f->link_class[s->f->port[port].link_class];
        double rate = hx_class_gbps(c, HX_LINK_GBPS) / HX_LINK_GBPS;
        most = s->load[port] / rate > most ? s->load[port] / rate : most;
    }
    for (uint32_t node = s->f->hosts; s->f->forwarding && node < s->f->nodes; node++) {
        uint32_t gbps = s->f->forwarding[node - s->f->hosts].gbps;
        double load = gbps ? s->passed[node] * HX_LINK_GBPS / gbps : 0;
        most = load > most ? load : most;
    }
    return most;
}

static double bound_by_loads(const struct hx_fabric *f)
{
    struct spread s = {.f = f,
                       .far = hx_allocate(f->ports, sizeof *s.far),
                       .shortest = f->distance && !f->topology->toward && !f->ways,
                       .load = hx_allocate(f->ports, sizeof *s.load),
                       .through = hx_allocate(f->nodes, sizeof *s.through),
                       .passed = hx_allocate(f->nodes, sizeof *s.passed),
                       .order = hx_allocate(f->nodes, sizeof *s.order),
                       .seen = hx_allocate(f->nodes, 1),
                       .onward = hx_allocate((size_t)BLOCK * f->nodes, sizeof *s.onward)};
    uint32_t *stack = hx_allocate(f->nodes, sizeof *stack);
    uint64_t *left = hx_allocate(f->nodes, sizeof *left);
    hx_tables_make(&s.tables, f);
    take_seats(&s.seats, f);
    for (uint32_t port = 0; port < f->ports; port++)
        s.far[port] = f->port[port].far.node;
    for (uint32_t number = 0; number < s.seats.count; number++) {
        if (number % BLOCK == 0)
            read_block(&s, number);
        spread_to(&s, number, stack, left);
    }
    load_own_links(&s);
    double living = s.seats.living;
    free_seats(&s.seats);
    double most = fullest(&s);
    hx_tables_free(&s.tables);
    free(s.far);
    free(s.load);
    free(s.through);
    free(s.passed);
    free(s.order);
    free(s.seen);
    free(s.onward);
    free(stack);
    free(left);
    return most > 0 ? (living - 1.0) / hx_fabric_injection(f, HX_LINK_GBPS) / most : 1;
}

double hx_fabric_alltoall_bound(const struct hx_fabric *f)
{
    bool formula = f->topology->alltoall_bound && !f->failed;
    double bound = f->mesh.nodes ? hx_alltoall_bound(&f->mesh)
                   : formula     ? f->topology->alltoall_bound(f)
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
        bill.cables[kind] = (bill.cables[kind] / 2 + f->failed_links[kind]) * f->bought_planes;
    bill.usd = bill.switches * SWITCH_USD + bill.cables[HX_DAC] * DAC_USD + bill.cables[HX_AOC] * AOC_USD;
    return bill;
}
