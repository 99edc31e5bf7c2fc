/* grid.c - lays out and routes grids of routers (topology/grid.h). */
#include "topology/grid.h"

#include "base/error.h"

#include <string.h>

static const struct hx_grid *grid_of(const struct hx_fabric *f)
{
    return f->own;
}

static unsigned coordinate(const struct hx_grid *g, unsigned dimension, uint32_t router)
{
    return router / g->dimension[dimension].stride % g->dimension[dimension].side;
}

/* Returns the links between two positions of a dimension. */
static unsigned apart(const struct hx_grid_dimension *d, unsigned a, unsigned b)
{
    unsigned straight = a > b ? a - b : b - a;
    switch (d->kind) {
    case HX_GRID_RING:
        return straight < d->side - straight ? straight : d->side - straight;
    case HX_GRID_LINE:
        return straight;
    case HX_GRID_FULL:
        return straight != 0;
    default:
        return straight ? 2 : 0;
    }
}

static bool is_nearer(const struct hx_grid *g, unsigned dimension, uint32_t router, uint32_t far, unsigned to)
{
    const struct hx_grid_dimension *d = &g->dimension[dimension];
    return apart(d, coordinate(g, dimension, far), to) + 1 == apart(d, coordinate(g, dimension, router), to);
}

/* Ports of hosts that forward, by dimension. */
static const struct host_ports {
    uint8_t step[2]; /* down and up the dimension */
    uint8_t others;  /* set of ports of the other dimension that this one allows before it is right */
    uint8_t arrived; /* set of ports that it allows once it is right */
} host_ports[2] = {{{HX_W, HX_E}, 1U << HX_S, 1U << HX_S | 1U << HX_N | 1U << HX_LOCAL},
                   {{HX_N, HX_S}, 1U << HX_E | 1U << HX_W, 1U << HX_E | 1U << HX_W | 1U << HX_LOCAL}};

/* ---- layout ---- */

uint32_t hx_grid_count(const struct hx_grid *g)
{
    uint64_t count = 1;
    for (unsigned i = 0; i < g->dimensions && count <= HX_MAX_HOSTS; i++)
        count *= g->dimension[i].side;
    return count <= HX_MAX_HOSTS ? (uint32_t)count : 0;
}

unsigned hx_grid_best_split(const struct hx_grid *g)
{
    uint32_t routers = hx_grid_count(g);
    uint32_t shortest = UINT32_MAX;
    unsigned best = 1;
    uint32_t d0s = 1;
    for (unsigned split = 1; split <= g->dimensions; split++) {
        d0s *= g->dimension[split - 1].side;
        if (d0s + routers / d0s * g->places < shortest) {
            shortest = d0s + routers / d0s * g->places;
            best = split;
        }
    }
    return best;
}

unsigned hx_grid_links(const struct hx_grid_dimension *d)
{
    switch (d->kind) {
    case HX_GRID_FULL:
        return d->side - 1;
    case HX_GRID_SWITCH:
        return 1;
    default:
        return d->side > 1 ? 2 : 0;
    }
}

unsigned hx_grid_radix(const struct hx_grid *g)
{
    unsigned radix = g->places;
    for (unsigned i = 0; i < g->dimensions; i++)
        radix += hx_grid_links(&g->dimension[i]);
    return radix;
}

static uint32_t board_of(const struct hx_grid *g, uint32_t router)
{
    uint32_t board = 0;
    for (unsigned i = g->dimensions; i-- > 0;) {
        const struct hx_grid_dimension *d = &g->dimension[i];
        board = board * (d->side / d->board) + coordinate(g, i, router) / d->board;
    }
    return board;
}

/* Numbers routers, boards and switches. Returns the number of switches. */
static uint32_t number(struct hx_grid *g)
{
    uint32_t switches = 0;
    g->routers = hx_grid_count(g);
    g->boards = 1;
    for (unsigned i = 0, stride = 1; i < g->dimensions; i++) {
        struct hx_grid_dimension *d = &g->dimension[i];
        d->stride = stride;
        d->switch0 = switches;
        stride *= d->side;
        switches += d->kind == HX_GRID_SWITCH ? g->routers / d->side : 0;
        g->boards *= d->side / d->board;
    }
    return switches;
}

/* Returns the positions in the dimensions below `split`. */
static uint32_t columns_of(const struct hx_grid *g, unsigned split)
{
    uint32_t columns = 1;
    for (unsigned i = 0; i < split; i++)
        columns *= g->dimension[i].side;
    return columns;
}

struct hx_grid *hx_grid_start(struct hx_fabric *f, const struct hx_grid *given)
{
    struct hx_grid *g = f->own = hx_allocate(1, sizeof *g);
    *g = *given;
    g->split = f->by_updown ? g->dimensions : g->split;
    uint32_t switches = number(g);
    uint32_t hosts = g->routers * g->places;
    uint32_t d0s = columns_of(g, g->split);
    if (g->split != given->split) {
        f->named_columns = columns_of(g, given->split);
        f->named_places = g->places;
    }
    hx_fabric_start(f, hosts, (g->on_hosts ? 0 : g->routers) + switches, d0s, hosts / d0s);
    f->groups = g->boards + switches;
    f->group_word = g->boards < g->routers ? "board" : "router";
    for (uint32_t host = 0; host < hosts; host++) {
        uint32_t router = host / g->places;
        hx_fabric_address(f, host, router % d0s, router / d0s * g->places + host % g->places);
        f->node[host].group = board_of(g, router);
        if (g->on_hosts)
            continue;
        hx_fabric_address(f, hosts + router, router % d0s, 0);
        f->node[hosts + router].group = f->node[host].group;
    }
    uint32_t switch0 = f->nodes - switches;
    for (uint32_t node = switch0; node < f->nodes; node++)
        f->node[node].group = g->boards + node - switch0;
    for (unsigned i = 0; i < g->dimensions; i++)
        g->dimension[i].switch0 += switch0;
    return g;
}

static void link_between(struct hx_fabric *f, uint32_t router, unsigned dimension, unsigned to, bool marked)
{
    const struct hx_grid *g = grid_of(f);
    const struct hx_grid_dimension *d = &g->dimension[dimension];
    unsigned at = coordinate(g, dimension, router);
    uint32_t first = g->on_hosts ? 0 : f->hosts;
    bool on_board = !marked && at / d->board == to / d->board;
    hx_fabric_add_link(f, &(struct hx_new_link){.a = first + router,
                                                .b = first + router - at * d->stride + to * d->stride,
                                                .link_class = on_board ? g->trace : d->cable,
                                                .dimension = (uint8_t)dimension,
                                                .stage = (uint8_t)d->stage,
                                                .marked = marked,
                                                .a_port = dimension ? HX_S : HX_E,
                                                .b_port = dimension ? HX_N : HX_W});
}

/* Adds the links of a router to later ones in a dimension, so that each link is added once. */
static void link_dimension(struct hx_fabric *f, uint32_t router, unsigned dimension)
{
    const struct hx_grid *g = grid_of(f);
    const struct hx_grid_dimension *d = &g->dimension[dimension];
    unsigned at = coordinate(g, dimension, router);
    if (d->kind == HX_GRID_SWITCH) {
        uint32_t line = router / (d->stride * d->side) * d->stride + router % d->stride;
        hx_fabric_add_link(f, &(struct hx_new_link){.a = f->hosts + router,
                                                    .b = d->switch0 + line,
                                                    .link_class = d->cable,
                                                    .dimension = (uint8_t)dimension,
                                                    .stage = (uint8_t)d->stage});
    } else if (d->kind == HX_GRID_FULL) {
        for (unsigned to = at + 1; to < d->side; to++)
            link_between(f, router, dimension, to, false);
    } else if (at + 1 < d->side) {
        link_between(f, router, dimension, at + 1, false);
    } else if (d->kind == HX_GRID_RING && d->side > 1) {
        link_between(f, router, dimension, 0, true);
    }
}

void hx_grid_add_links(struct hx_fabric *f)
{
    const struct hx_grid *g = grid_of(f);
    for (uint32_t host = 0; host < f->hosts && !g->on_hosts; host++)
        hx_fabric_add_link(
            f, &(struct hx_new_link){
                   .a = host, .b = f->hosts + host / g->places, .link_class = g->beside, .b_port = HX_LOCAL});
    for (uint32_t router = 0; router < g->routers; router++)
        for (unsigned i = 0; i < g->dimensions; i++)
            link_dimension(f, router, i);
    if (!g->on_hosts)
        hx_fabric_name(f, "router", f->hosts, g->routers, g->dimensions > 1 ? g->dimension[0].side : 0);
    uint32_t switch0 = f->hosts + g->routers;
    if (switch0 < f->nodes)
        hx_fabric_name(f, "switch", switch0, f->nodes - switch0, 0);
}

/* ---- routes ---- */

/* What a digit's value says: the coordinates in dimensions first .. end-1, and a host's place. */
struct aim {
    unsigned first, end;
    unsigned to[HX_GRID_DIMENSIONS];
    unsigned place;
};

static struct aim aim_of(const struct hx_grid *g, unsigned digit, unsigned value)
{
    struct aim aim = {.first = digit ? g->split : 0, .end = digit ? g->dimensions : g->split};
    aim.place = digit ? value % g->places : 0;
    unsigned left = digit ? value / g->places : value;
    for (unsigned i = aim.first; i < aim.end; i++) {
        aim.to[i] = left % g->dimension[i].side;
        left /= g->dimension[i].side;
    }
    return aim;
}

/* Whether all minimal paths between two positions of a dimension go down. A ring may have minimal paths both up and
 * down. */
static bool only_down(const struct hx_grid_dimension *d, unsigned from, unsigned to)
{
    if (d->kind == HX_GRID_LINE)
        return to < from;
    unsigned up = (to + d->side - from) % d->side;
    return d->kind == HX_GRID_RING && up > d->side - up;
}

/* What remains of an aim at a router. */
struct rest {
    unsigned stage; /* first stage in which it is not at its aim; DONE: none */
    bool down;      /* must go down in this stage */
};
enum { DONE = HX_GRID_DIMENSIONS };

static struct rest rest_of(const struct hx_grid *g, const struct aim *aim, uint32_t router)
{
    struct rest rest = {.stage = DONE};
    for (unsigned i = aim->first; i < aim->end && g->dimension[i].stage <= rest.stage; i++) {
        unsigned at = coordinate(g, i, router);
        if (at == aim->to[i])
            continue;
        rest.stage = g->dimension[i].stage;
        rest.down = rest.down || only_down(&g->dimension[i], at, aim->to[i]);
    }
    return rest;
}

/* Returns the direction of a link in its ring or line: 1 up, -1 down, 0 neither. */
static int slope(const struct hx_fabric *f, uint32_t router, const struct hx_fabric_port *port)
{
    enum hx_grid_kind kind = grid_of(f)->dimension[port->dimension].kind;
    bool larger = port->far.node > f->hosts + router;
    if (kind != HX_GRID_RING && kind != HX_GRID_LINE)
        return 0;
    return larger != port->marked ? 1 : -1;
}

/* Whether the link at a router's port is on a minimal path, as far as the aim tells. */
static bool leads(const struct hx_fabric *f, const struct aim *aim, struct rest rest, uint32_t router,
                  const struct hx_fabric_port *port)
{
    const struct hx_grid *g = grid_of(f);
    const struct hx_grid_dimension *d = &g->dimension[port->dimension];
    if (d->stage > rest.stage || (d->stage == rest.stage && rest.down && slope(f, router, port) > 0))
        return false;
    if (port->dimension < aim->first || port->dimension >= aim->end)
        return true;
    unsigned to = aim->to[port->dimension];
    if (d->kind == HX_GRID_SWITCH)
        return coordinate(g, port->dimension, router) != to;
    return is_nearer(g, port->dimension, router, port->far.node - f->hosts, to);
}

static uint64_t next_hops_of_router(const struct hx_fabric *f, uint32_t node, const struct aim *aim)
{
    const struct hx_grid *g = grid_of(f);
    uint32_t router = node - f->hosts;
    struct rest rest = rest_of(g, aim, router);
    uint64_t set = 0;
    for (unsigned port = 0; port < hx_fabric_ports(f, node); port++) {
        const struct hx_fabric_port *p = hx_fabric_port(f, node, port);
        bool is_next = hx_is_host(f, p->far.node)
                           ? rest.stage == DONE && (aim->first == 0 || p->far.node % g->places == aim->place)
                           : leads(f, aim, rest, router, p);
        set |= (uint64_t)is_next << port;
    }
    return set;
}

/* Port n of a switch leads to position n of its dimension. */
static uint64_t next_hops_of_switch(const struct hx_fabric *f, uint32_t node, const struct aim *aim)
{
    unsigned dimension = hx_fabric_port(f, node, 0)->dimension;
    bool known = dimension >= aim->first && dimension < aim->end;
    return known ? (uint64_t)1 << aim->to[dimension] : UINT64_MAX;
}

/* North last: a packet goes north only when its x is right, so it never turns from north into a row. Other dimensions
 * come in any order. The link that closes a ring moves a packet to the next VC; rows and columns that are lines close
 * no cycle. */
static uint64_t next_hops_of_host(const struct hx_fabric *f, uint32_t node, unsigned digit, unsigned value)
{
    const struct hx_grid *g = grid_of(f);
    const struct host_ports *p = &host_ports[digit];
    unsigned at = digit < g->dimensions ? coordinate(g, digit, node) : 0;
    if (at == value)
        return p->arrived;
    uint64_t set = p->others;
    for (unsigned step = 0; step < 2; step++) {
        uint32_t far = hx_fabric_far(f, node, p->step[step]).node;
        set |= (uint64_t)(far != HX_NOWHERE && is_nearer(g, digit, node, far, value)) << p->step[step];
    }
    return set;
}

uint64_t hx_grid_next_hops(const struct hx_fabric *f, uint32_t node, unsigned digit, unsigned value)
{
    const struct hx_grid *g = grid_of(f);
    if (g->on_hosts)
        return next_hops_of_host(f, node, digit, value);
    struct aim aim = aim_of(g, digit, value);
    return node - f->hosts < g->routers ? next_hops_of_router(f, node, &aim) : next_hops_of_switch(f, node, &aim);
}

/* Forbids down after up. Where both directions of a ring are equally long, such a turn would close a cycle. */
uint64_t hx_grid_turn_mask(const struct hx_fabric *f, uint32_t node, unsigned input)
{
    const struct hx_fabric_port *in = hx_fabric_port(f, node, input);
    uint64_t set = UINT64_MAX;
    if (hx_is_host(f, node) || hx_is_host(f, in->far.node) || slope(f, node - f->hosts, in) >= 0)
        return set;
    for (unsigned port = 0; port < hx_fabric_ports(f, node); port++) {
        const struct hx_fabric_port *out = hx_fabric_port(f, node, port);
        if (!hx_is_host(f, out->far.node) && out->stage == in->stage && slope(f, node - f->hosts, out) < 0)
            set &= ~((uint64_t)1 << port);
    }
    return set;
}

unsigned hx_grid_distance(const struct hx_fabric *f, uint32_t from, uint32_t to)
{
    const struct hx_grid *g = grid_of(f);
    unsigned links = from == to || g->on_hosts ? 0 : 2;
    for (unsigned i = 0; i < g->dimensions; i++)
        links += apart(&g->dimension[i], coordinate(g, i, from / g->places), coordinate(g, i, to / g->places));
    return links;
}

/* Dimensions are independent: their sums add up. */
uint64_t hx_grid_distances(const struct hx_fabric *f, unsigned *longest)
{
    const struct hx_grid *g = grid_of(f);
    uint64_t hosts = f->hosts;
    unsigned own = g->on_hosts ? 0 : 2;
    uint64_t sum = own * hosts * (hosts - 1);
    *longest = hosts > 1 ? own : 0;
    for (unsigned i = 0; i < g->dimensions; i++) {
        const struct hx_grid_dimension *d = &g->dimension[i];
        uint64_t links = 0;
        unsigned most = 0;
        if (d->side < 2)
            continue;
        for (unsigned from = 0; from < d->side; from++)
            for (unsigned to = 0; to < d->side; to++) {
                unsigned between = apart(d, from, to);
                links += between;
                most = between > most ? between : most;
            }
        sum += links * (hosts / d->side) * (hosts / d->side);
        *longest += most;
    }
    return sum;
}

/* ---- what it can carry ---- */

/* Returns the load of the fullest channel of a dimension if each router sends 1 in all, evenly to all routers, itself
 * included. Where both directions of a ring are equally long, each takes half. */
static double load(const struct hx_grid_dimension *d)
{
    uint64_t half = d->side / 2;
    uint64_t pairs =
        half * (d->side - half); /* of the two halves of a line; of a ring: the sum of distances from one position */
    double side = d->side;
    switch (d->kind) {
    case HX_GRID_FULL:
        return 1 / side;
    case HX_GRID_SWITCH:
        return (side - 1) / side;
    case HX_GRID_LINE:
        return (double)pairs / side;
    default:
        return (double)pairs / (2 * side);
    }
}

double hx_grid_alltoall_bound(const struct hx_fabric *f)
{
    const struct hx_grid *g = grid_of(f);
    const struct hx_link_class *beside = &f->link_class[g->beside];
    double injected = g->on_hosts ? f->host_links : beside->gbps ? beside->gbps : beside->times;
    if (f->injected)
        injected = hx_fabric_injection(f, HX_LINK_GBPS);
    double others = (double)f->hosts / ((double)f->hosts - 1);
    double bound = 1;
    if (injected == 0)
        injected = 1;
    for (unsigned i = 0; i < g->dimensions; i++) {
        const struct hx_grid_dimension *d = &g->dimension[i];
        double fullest = d->side > 1 ? load(d) * g->places * injected * others : 0;
        if (fullest > 0 && d->gbps / fullest < bound)
            bound = d->gbps / fullest;
    }
    return bound;
}

/* Known if all sides are even, of one rate and without switches: the cheapest cut halves one dimension. No other halves
 * have fewer links between them. If all send 1 to all, n * n / 4 crosses each way. Shared evenly, dimension by
 * dimension, a link carries at most n * n / 4 divided by the links of its dimension's cut. */
uint64_t hx_grid_bisection(const struct hx_fabric *f)
{
    const struct hx_grid *g = grid_of(f);
    uint64_t least = UINT64_MAX;
    for (unsigned i = 0; i < g->dimensions; i++) {
        const struct hx_grid_dimension *d = &g->dimension[i];
        if (d->side % 2 || d->kind == HX_GRID_SWITCH || d->gbps != g->dimension[0].gbps)
            return 0;
        uint64_t of_line = 1;
        if (d->kind != HX_GRID_LINE)
            of_line = d->kind == HX_GRID_RING ? 2 : (uint64_t)d->side * d->side / 4;
        uint64_t cut = of_line * (g->routers / d->side);
        least = cut < least ? cut : least;
    }
    return least;
}

unsigned hx_grid_dimensions(const struct hx_fabric *f, struct hx_fabric_dimension *dimension)
{
    static const enum hx_dimension_kind kinds[] = {[HX_GRID_RING] = HX_DIMENSION_RING,
                                                   [HX_GRID_LINE] = HX_DIMENSION_LINE,
                                                   [HX_GRID_FULL] = HX_DIMENSION_FULL,
                                                   [HX_GRID_SWITCH] = HX_DIMENSION_SWITCH};
    const struct hx_grid *g = f->own;
    unsigned count = 0;
    if (g->places > 1)
        dimension[count++] = (struct hx_fabric_dimension){g->places, HX_DIMENSION_SWITCH};
    for (unsigned i = 0; i < g->dimensions; i++) {
        if (g->dimension[i].side > 1)
            dimension[count++] = (struct hx_fabric_dimension){g->dimension[i].side, kinds[g->dimension[i].kind]};
    }
    return count;
}
