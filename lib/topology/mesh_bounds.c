/* mesh_bounds.c - diameter and straight cut of a HammingMesh (topology/mesh_bounds.h has the derivations). */
#include "topology/mesh_bounds.h"

#define NO_CUT UINT64_MAX /* links, if a dimension is one accelerator long */

/* One dimension: its lines, and the boards and accelerators along each. */
struct dimension {
    const struct hx_geometry *g;
    enum hx_node_kind kind;
    const struct hx_network *network;
    unsigned side;   /* accelerators of a board */
    unsigned boards; /* on a line */
    unsigned lines;
};

static struct dimension rows_of(const struct hx_geometry *g)
{
    return (struct dimension){g, HX_ROW_SWITCH, &g->row, g->a, g->x, g->rows};
}

static struct dimension columns_of(const struct hx_geometry *g)
{
    return (struct dimension){g, HX_COLUMN_SWITCH, &g->column, g->b, g->y, g->columns};
}

static unsigned line_diameter(const struct dimension *d)
{
    unsigned longest = 0;
    unsigned positions = d->side * d->boards;
    for (unsigned from = 0; from < positions; from++) {
        for (unsigned to = 0; to < from; to++) {
            unsigned cables =
                d->kind == HX_ROW_SWITCH ? hx_distance(d->g, from, 0, to, 0) : hx_distance(d->g, 0, from, 0, to);
            longest = cables > longest ? cables : longest;
        }
    }
    return longest;
}

unsigned hx_diameter(const struct hx_geometry *g)
{
    struct dimension rows = rows_of(g);
    struct dimension columns = columns_of(g);
    return line_diameter(&rows) + line_diameter(&columns);
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Returns the network ports of a leaf that lie below `port`. */
static unsigned leaf_ports_below(const struct hx_network *n, unsigned leaf, unsigned port)
{
    unsigned first = leaf * n->down;
    return port <= first ? 0 : least(port - first, n->down);
}

/* Returns the fewest links of one network to cut between its ports below `port` and the others. Leaves 0 ..
 * lower-1 are on the lower side, with the least cut of all such; every spine is on the side with more of its cables. */
static unsigned network_cut(const struct dimension *d, unsigned port)
{
    const struct hx_network *n = d->network;
    unsigned best = UINT32_MAX;
    for (unsigned lower = 0; lower <= n->leaves; lower++) {
        unsigned cut = 0;
        for (unsigned leaf = 0; leaf < n->leaves; leaf++) {
            unsigned below = leaf_ports_below(n, leaf, port);
            cut += leaf < lower ? leaf_ports_below(n, leaf, n->ports) - below : below;
        }
        for (unsigned spine = 0; spine < n->spines; spine++)
            cut += hx_cables_to_spine(n, spine) * least(lower, n->leaves - lower);
        best = least(best, cut);
    }
    return best;
}

/* Returns the links between the halves of the fabric, cut across this dimension, or NO_CUT. */
static uint64_t dimension_cut(const struct dimension *d)
{
    unsigned half = d->side * d->boards / 2;
    if (half == 0)
        return NO_CUT;
    bool through_board = half % d->side != 0;
    unsigned ports = 2 * (half / d->side) + through_board;
    return (uint64_t)d->lines * (network_cut(d, ports) + through_board);
}

struct hx_straight_cut hx_straight_cut_of(const struct hx_geometry *g)
{
    struct dimension rows = rows_of(g);
    struct dimension columns = columns_of(g);
    uint64_t row_cut = dimension_cut(&rows);
    uint64_t column_cut = dimension_cut(&columns);
    bool across_rows = column_cut < row_cut;
    uint64_t cut = across_rows ? column_cut : row_cut;
    uint64_t links = cut == NO_CUT ? 0 : cut;
    return (struct hx_straight_cut){.links = links,
                                    .share = (double)links / (2.0 * g->accelerators),
                                    .halves = (across_rows ? g->rows : g->columns) % 2 == 0};
}
