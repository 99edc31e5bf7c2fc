/* route.c - builds the route tables of one switch (include/hxmesh/route.h, SC22 section IV-C).
 *
 * The dimensions are independent, so one routine plans a line: to which side (low: W or N, high: E or S) a minimal path
 * goes next, and whether it leaves the board there. */
#include "hxmesh/route.h"
#include "hxmesh/memory.h"

enum side { LOW, HIGH };

/* Next steps of all minimal paths in one dimension. */
struct plan {
    bool step[2];   /* LOW, HIGH */
    bool exit_here; /* a step leaves the board from this accelerator */
    bool done;
    bool crosses; /* every minimal path leaves for another board */
};

struct line {
    const struct hx_network *network;
    unsigned side; /* accelerators of a board on this line */
};

static unsigned to_edge(const struct line *l, unsigned on, enum side side)
{
    return side == LOW ? on : l->side - 1 - on;
}

/* Returns the cables from the `side` edge of board `from` to position `on` of board `to`, by the better edge. */
static unsigned cost_after_exit(const struct line *l, unsigned from, enum side side, unsigned to, unsigned on)
{
    unsigned best = UINT16_MAX;
    for (enum side enter = LOW; enter <= HIGH; enter++) {
        if (2 * from + side == 2 * to + enter)
            continue; /* a network never returns a packet to the port it came from */
        unsigned cost = hx_network_cables(l->network, 2 * from + side, 2 * to + enter) + to_edge(l, on, enter);
        best = cost < best ? cost : best;
    }
    return best;
}

static struct plan plan_line(const struct line *l, unsigned at, unsigned to)
{
    unsigned board = at / l->side;
    unsigned on = at % l->side;
    unsigned to_board = to / l->side;
    unsigned to_on = to % l->side;
    struct plan p = {.done = at == to, .crosses = board != to_board};
    if (p.done)
        return p;
    unsigned wrap[2];
    unsigned best = UINT16_MAX;
    for (enum side s = LOW; s <= HIGH; s++) {
        wrap[s] = to_edge(l, on, s) + cost_after_exit(l, board, s, to_board, to_on);
        best = wrap[s] < best ? wrap[s] : best;
    }
    if (board == to_board) {
        unsigned direct = on > to_on ? on - to_on : to_on - on;
        best = direct < best ? direct : best;
        p.step[to_on > on ? HIGH : LOW] = direct == best;
    }
    for (enum side s = LOW; s <= HIGH; s++) {
        if (wrap[s] == best) {
            p.step[s] = true;
            p.exit_here = p.exit_here || to_edge(l, on, s) == 0;
        }
    }
    return p;
}

static bool is_blocked(struct hx_blocked_boards blocked, unsigned board)
{
    return blocked.bits && (blocked.bits[board / 8] >> (board % 8) & 1U);
}

static void mesh_tables(const struct hx_geometry *g, struct hx_place at, struct hx_blocked_boards blocked,
                        uint8_t *x_table, uint8_t *y_table)
{
    const struct line row = {&g->row, g->a};
    const struct line column = {&g->column, g->b};
    bool north_leaves = hx_is_edge(g, at.gx, at.gy, HX_N); /* no hop on the board, so X need not be first */
    for (unsigned gx = 0; gx < g->columns; gx++) {
        struct plan p = plan_line(&row, at.gx, gx);
        if (p.crosses && is_blocked(blocked, at.gy / g->b * (unsigned)g->x + gx / g->a))
            p = (struct plan){.exit_here = true}; /* X waits for another board row */
        x_table[gx] =
            (uint8_t)((unsigned)p.step[LOW] << HX_W | (unsigned)p.step[HIGH] << HX_E | 1U << HX_S |
                      (unsigned)(p.done || p.exit_here || north_leaves) << HX_N | (unsigned)p.done << HX_LOCAL);
    }
    for (unsigned gy = 0; gy < g->rows; gy++) {
        struct plan p = plan_line(&column, at.gy, gy);
        if (p.crosses && is_blocked(blocked, gy / g->b * (unsigned)g->x + at.gx / g->a))
            p = (struct plan){.done = false};
        y_table[gy] = (uint8_t)((unsigned)p.step[LOW] << HX_N | (unsigned)p.step[HIGH] << HX_S | 1U << HX_E |
                                1U << HX_W | (unsigned)p.done << HX_LOCAL);
    }
}

/* Returns the ports of a leaf on minimal paths to position `to`: its down ports, or all uplinks. */
static uint64_t leaf_ports(const struct line *l, unsigned leaf, unsigned to)
{
    const struct hx_network *n = l->network;
    uint64_t set = 0;
    unsigned best = UINT16_MAX;
    for (enum side enter = LOW; enter <= HIGH; enter++) {
        unsigned at = 2 * (to / l->side) + enter;
        bool here = at / n->down == leaf;
        unsigned cost = (here ? 1U : 3U) + to_edge(l, to % l->side, enter);
        uint64_t ports = here ? (uint64_t)1 << at % n->down : (((uint64_t)1 << n->up) - 1) << n->down;
        if (cost < best)
            set = 0;
        if (cost <= best)
            set |= ports;
        best = cost < best ? cost : best;
    }
    return set;
}

/* Returns the ports of a spine on minimal paths to position `to`: its cables to the leaves of the better edges. */
static uint64_t spine_ports(const struct line *l, unsigned cables, unsigned to)
{
    const struct hx_network *n = l->network;
    uint64_t bundle = cables < 64 ? ((uint64_t)1 << cables) - 1 : UINT64_MAX;
    unsigned low = to_edge(l, to % l->side, LOW);
    unsigned high = to_edge(l, to % l->side, HIGH);
    uint64_t set = 0;
    if (low <= high)
        set |= bundle << 2 * (to / l->side) / n->down * cables;
    if (high <= low)
        set |= bundle << (2 * (to / l->side) + 1) / n->down * cables;
    return set;
}

/* Builds the turn masks of a tree switch: no port back, and none from spine to spine. A packet without a route returns
 * by its own port; one from a spine returns to any board. So all paths go up, then down. */
static void tree_inputs(const struct hx_network *n, unsigned index, unsigned ports, uint64_t up, uint64_t *from,
                        uint64_t *returns)
{
    uint64_t above = index < n->leaves && n->up ? (((uint64_t)1 << n->up) - 1) << n->down : 0;
    for (unsigned input = 0; input < ports; input++) {
        bool came_down = above >> input & 1;
        from[input] = up & ~(came_down ? above : (uint64_t)1 << input);
        returns[input] = up & (came_down ? ~above : (uint64_t)1 << input);
    }
}

/* Builds tables that depend on the address of the network's axis only. */
static void tree_tables(struct hx_route *r, const struct hx_geometry *g, uint32_t node, struct hx_place at, uint64_t up,
                        uint64_t *tables)
{
    bool row = at.kind == HX_ROW_SWITCH;
    const struct line l = {row ? &g->row : &g->column, row ? g->a : g->b};
    uint64_t *from = tables + g->columns + g->rows;
    uint64_t *table = row ? tables : tables + g->columns;
    unsigned positions = row ? g->columns : g->rows;
    unsigned ports = hx_node_ports(g, node);
    memset(tables, UINT8_MAX, sizeof *tables * ((size_t)g->columns + g->rows));
    for (unsigned to = 0; to < positions; to++)
        table[to] = at.index < l.network->leaves ? leaf_ports(&l, at.index, to)
                                                 : spine_ports(&l, ports / l.network->leaves, to);
    tree_inputs(l.network, at.index, ports, up, from, from + ports);
    r->is_router = true;
    r->addr_hi_ports = tables;
    r->addr_lo_ports = tables + g->columns;
    r->from = from;
    r->returns = from + ports;
}

size_t hx_route_bytes(const struct hx_geometry *g, uint32_t node)
{
    size_t digits = (size_t)g->columns + g->rows;
    return hx_place_of(g, node).kind == HX_ACCELERATOR ? digits
                                                       : (digits + 2U * hx_node_ports(g, node)) * sizeof(uint64_t);
}

void hx_route_build(struct hx_route *r, const struct hx_geometry *g, uint32_t node, struct hx_blocked_boards blocked,
                    uint64_t up, void *memory)
{
    struct hx_place at = hx_place_of(g, node);
    *r = (struct hx_route){.vcs = HX_MESH_VCS, .last_vc = HX_MESH_VCS - 1, .columns = g->columns, .rows = g->rows};
    if (at.kind != HX_ACCELERATOR) {
        tree_tables(r, g, node, at, up, memory);
        return;
    }
    uint8_t *tables = memory;
    mesh_tables(g, at, blocked, tables, tables + g->columns);
    r->x_table = tables;
    r->y_table = tables + g->columns;
    for (unsigned port = HX_E; port < HX_LOCAL; port++)
        r->incrementing |= (uint8_t)((unsigned)hx_is_edge(g, at.gx, at.gy, port) << port);
    for (unsigned input = 0; input < HX_ACCELERATOR_PORTS; input++) {
        bool moved_north = input == HX_S && !hx_is_edge(g, at.gx, at.gy, HX_S);
        unsigned turns = moved_north ? 1U << HX_N | r->incrementing | 1U << HX_LOCAL : UINT8_MAX;
        bool on_board = input < HX_LOCAL && !(r->incrementing >> input & 1);
        turns &= ~((unsigned)on_board << input); /* never back; minimal paths of nodes that know the same do not go */
        r->turn_mask[input] = (uint8_t)(turns & (up | 1U << HX_LOCAL));
    }
}

void hx_route_order_x_first(struct hx_route *r, void *memory)
{
    const uint8_t x_ports = (uint8_t)(r->turn_mask[HX_LOCAL] & (1U << HX_E | 1U << HX_W));
    uint8_t *x_table = memory;
    for (unsigned gx = 0; !r->is_router && gx < r->columns; gx++) {
        if (x_table[gx] & x_ports && !(x_table[gx] & 1U << HX_LOCAL))
            x_table[gx] &= x_ports;
    }
}
