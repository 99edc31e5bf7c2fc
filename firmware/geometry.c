/* geometry.c - node numbering, cables and distances of a HammingMesh (include/hxmesh/geometry.h). */
#include "hxmesh/geometry.h"
#include "hxmesh/error.h"

static bool within(unsigned value, unsigned low, unsigned high)
{
    return value >= low && value <= high;
}

/* Joins `ports` board edges: by one crossbar if they fit one switch, else by a two-level tree. Each leaf's uplinks are
 * dealt over the spines in turn. */
static int network_init(struct hx_network *n, unsigned ports, unsigned radix, unsigned taper)
{
    *n = (struct hx_network){.ports = (uint16_t)ports, .leaves = 1, .down = (uint16_t)ports, .switches = 1};
    if (ports <= radix)
        return HX_OK;
    unsigned down = radix * taper / (taper + 1U);
    unsigned up = radix - down;
    if (down == 0 || up == 0)
        return HX_E_CAPACITY;
    unsigned leaves = (ports + down - 1U) / down;
    unsigned spines = (leaves * up + radix - 1U) / radix;
    while (spines < up && leaves * ((up + spines - 1U) / spines) > radix)
        spines++;
    if (leaves * ((up + spines - 1U) / spines) > radix)
        return HX_E_CAPACITY;
    n->leaves = (uint16_t)leaves;
    n->spines = (uint16_t)spines;
    n->down = (uint16_t)down;
    n->up = (uint16_t)up;
    n->switches = (uint16_t)(leaves + spines);
    return HX_OK;
}

int hx_geometry_init(struct hx_geometry *g, unsigned a, unsigned b, unsigned x, unsigned y, unsigned planes,
                     unsigned radix, unsigned taper)
{
    if (!within(a, 1, HX_MAX_BOARD_SIDE) || !within(b, 1, HX_MAX_BOARD_SIDE) || !within(x, 1, HX_MAX_FABRIC_SIDE) ||
        !within(y, 1, HX_MAX_FABRIC_SIDE) || !within(planes, 1, HX_MAX_PLANES) || !within(radix, 2, HX_MAX_RADIX) ||
        !within(taper, 1, HX_MAX_TAPER) || a * x > HX_MAX_LINE || b * y > HX_MAX_LINE ||
        a * x * b * y > HX_MAX_ACCELERATORS)
        return HX_E_RANGE;
    *g = (struct hx_geometry){.a = (uint16_t)a,
                              .b = (uint16_t)b,
                              .x = (uint16_t)x,
                              .y = (uint16_t)y,
                              .planes = (uint8_t)planes,
                              .radix = (uint8_t)radix,
                              .taper = (uint8_t)taper,
                              .columns = (uint16_t)(a * x),
                              .rows = (uint16_t)(b * y)};
    int error = network_init(&g->row, 2 * x, radix, taper);
    if (error == HX_OK)
        error = network_init(&g->column, 2 * y, radix, taper);
    if (error != HX_OK)
        return error;
    g->accelerators = (uint32_t)g->columns * g->rows;
    g->row_base = g->accelerators;
    g->column_base = g->row_base + (uint32_t)g->rows * g->row.switches;
    g->nodes = g->column_base + (uint32_t)g->columns * g->column.switches;
    return HX_OK;
}

struct hx_place hx_place_of(const struct hx_geometry *g, uint32_t node)
{
    if (node < g->row_base)
        return (struct hx_place){
            .kind = HX_ACCELERATOR, .gx = (uint16_t)(node % g->columns), .gy = (uint16_t)(node / g->columns)};
    bool row = node < g->column_base;
    uint32_t at = node - (row ? g->row_base : g->column_base);
    unsigned switches = row ? g->row.switches : g->column.switches;
    return (struct hx_place){.kind = row ? HX_ROW_SWITCH : HX_COLUMN_SWITCH,
                             .line = (uint16_t)(at / switches),
                             .index = (uint16_t)(at % switches)};
}

uint32_t hx_accelerator(const struct hx_geometry *g, unsigned gx, unsigned gy)
{
    return (uint32_t)gy * g->columns + gx;
}

uint32_t hx_tree_switch(const struct hx_geometry *g, enum hx_node_kind kind, unsigned line, unsigned index)
{
    return kind == HX_ROW_SWITCH ? g->row_base + line * g->row.switches + index
                                 : g->column_base + line * g->column.switches + index;
}

static const struct hx_network *network_of(const struct hx_geometry *g, enum hx_node_kind kind)
{
    return kind == HX_ROW_SWITCH ? &g->row : &g->column;
}

unsigned hx_cables_to_spine(const struct hx_network *n, unsigned spine)
{
    return (n->up - spine + n->spines - 1U) / n->spines;
}

unsigned hx_node_ports(const struct hx_geometry *g, uint32_t node)
{
    struct hx_place p = hx_place_of(g, node);
    if (p.kind == HX_ACCELERATOR)
        return HX_ACCELERATOR_PORTS;
    const struct hx_network *n = network_of(g, p.kind);
    if (p.index < n->leaves)
        return (unsigned)n->down + n->up;
    return n->leaves * hx_cables_to_spine(n, p.index - (unsigned)n->leaves);
}

bool hx_is_edge(const struct hx_geometry *g, unsigned gx, unsigned gy, unsigned port)
{
    switch (port) {
    case HX_E:
        return gx % g->a == g->a - 1U;
    case HX_W:
        return gx % g->a == 0;
    case HX_N:
        return gy % g->b == 0;
    case HX_S:
        return gy % g->b == g->b - 1U;
    default:
        return false;
    }
}

/* Returns the network port at an edge port of an accelerator. */
static struct hx_end network_end(const struct hx_geometry *g, unsigned gx, unsigned gy, unsigned port)
{
    bool row = port == HX_E || port == HX_W;
    unsigned board = row ? gx / g->a : gy / g->b;
    unsigned at = 2 * board + (port == HX_E || port == HX_S);
    const struct hx_network *n = row ? &g->row : &g->column;
    return (struct hx_end){.node =
                               hx_tree_switch(g, row ? HX_ROW_SWITCH : HX_COLUMN_SWITCH, row ? gy : gx, at / n->down),
                           .port = (uint16_t)(at % n->down)};
}

static struct hx_end accelerator_far_end(const struct hx_geometry *g, unsigned gx, unsigned gy, unsigned port)
{
    if (port >= HX_LOCAL)
        return (struct hx_end){.node = HX_NOWHERE};
    if (hx_is_edge(g, gx, gy, port))
        return network_end(g, gx, gy, port);
    switch (port) {
    case HX_E:
        return (struct hx_end){hx_accelerator(g, gx + 1, gy), HX_W};
    case HX_W:
        return (struct hx_end){hx_accelerator(g, gx - 1, gy), HX_E};
    case HX_N:
        return (struct hx_end){hx_accelerator(g, gx, gy - 1), HX_S};
    default:
        return (struct hx_end){hx_accelerator(g, gx, gy + 1), HX_N};
    }
}

/* Returns the accelerator's edge at network port `at` of a line. */
static struct hx_end board_end(const struct hx_geometry *g, enum hx_node_kind kind, unsigned line, unsigned at)
{
    unsigned board = at / 2;
    bool far_side = at % 2;
    if (kind == HX_ROW_SWITCH)
        return (struct hx_end){hx_accelerator(g, board * g->a + (far_side ? g->a - 1U : 0), line),
                               far_side ? HX_E : HX_W};
    return (struct hx_end){hx_accelerator(g, line, board * g->b + (far_side ? g->b - 1U : 0)), far_side ? HX_S : HX_N};
}

static struct hx_end tree_far_end(const struct hx_geometry *g, struct hx_place p, unsigned port)
{
    const struct hx_network *n = network_of(g, p.kind);
    if (p.index >= n->leaves) { /* spine: cables to leaf 0, then to leaf 1, ... */
        unsigned spine = p.index - (unsigned)n->leaves;
        unsigned cables = hx_cables_to_spine(n, spine);
        return (struct hx_end){hx_tree_switch(g, p.kind, p.line, port / cables),
                               (uint16_t)(n->down + spine + port % cables * n->spines)};
    }
    if (port >= n->down) {
        unsigned uplink = port - n->down;
        unsigned spine = uplink % n->spines;
        return (struct hx_end){hx_tree_switch(g, p.kind, p.line, n->leaves + spine),
                               (uint16_t)(p.index * hx_cables_to_spine(n, spine) + uplink / n->spines)};
    }
    unsigned at = p.index * (unsigned)n->down + port;
    return at < n->ports ? board_end(g, p.kind, p.line, at) : (struct hx_end){.node = HX_NOWHERE};
}

struct hx_end hx_far_end(const struct hx_geometry *g, uint32_t node, unsigned port)
{
    struct hx_place p = hx_place_of(g, node);
    if (port >= hx_node_ports(g, node))
        return (struct hx_end){.node = HX_NOWHERE};
    return p.kind == HX_ACCELERATOR ? accelerator_far_end(g, p.gx, p.gy, port) : tree_far_end(g, p, port);
}

unsigned hx_network_cables(const struct hx_network *n, unsigned port, unsigned other)
{
    return port / n->down == other / n->down ? 2 : 4;
}

/* Returns the minimal cables of one dimension between two positions of a line; `side`: accelerators of a board. */
static unsigned line_distance(const struct hx_network *n, unsigned side, unsigned at, unsigned to)
{
    unsigned board = at / side;
    unsigned to_board = to / side;
    unsigned on = at % side;
    unsigned to_on = to % side;
    unsigned best = UINT16_MAX;
    if (board == to_board)
        best = on > to_on ? on - to_on : to_on - on;
    for (unsigned leave = 0; leave < 2; leave++) {
        for (unsigned enter = 0; enter < 2; enter++) {
            unsigned from_port = 2 * board + leave;
            unsigned to_port = 2 * to_board + enter;
            if (from_port == to_port)
                continue;
            unsigned cost = (leave ? side - 1 - on : on) + hx_network_cables(n, from_port, to_port) +
                            (enter ? side - 1 - to_on : to_on);
            best = cost < best ? cost : best;
        }
    }
    return best;
}

unsigned hx_distance(const struct hx_geometry *g, unsigned gx, unsigned gy, unsigned to_gx, unsigned to_gy)
{
    return line_distance(&g->row, g->a, gx, to_gx) + line_distance(&g->column, g->b, gy, to_gy);
}
