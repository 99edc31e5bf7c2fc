/* mesh_bounds.c - diameter, straight cut and all-to-all bound (topology/mesh_bounds.h has the derivations). */
#include "topology/mesh_bounds.h"

#include "topology/hamming_mesh.h"
#include "topology/loads.h"

#include <math.h>

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

/* Returns the fewest links of one network to cut between its ports below `port` and the others. The leaves before some
 * leaf are on the lower side; every spine is on the side with more of its cables. */
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
        for (unsigned spine = 0; spine < n->spines; spine++) {
            unsigned cables = (n->up - spine + n->spines - 1U) / n->spines; /* to each leaf: dealt in turn */
            cut += cables * least(lower, n->leaves - lower);
        }
        best = least(best, cut);
    }
    return best;
}

/* Returns the links between the halves of the fabric, cut across this dimension; 0: it is one accelerator long. */
static uint64_t dimension_cut(const struct dimension *d)
{
    unsigned half = d->side * d->boards / 2;
    if (half == 0)
        return 0;
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
    bool across_rows = row_cut == 0 || (column_cut && column_cut < row_cut);
    uint64_t links = across_rows ? column_cut : row_cut;
    return (struct hx_straight_cut){.links = links,
                                    .share = (double)links / (2.0 * g->accelerators),
                                    .halves = (across_rows ? g->rows : g->columns) % 2 == 0};
}

/* ---- all-to-all ---- */

/* A line on which each accelerator sends 1 to each other. By symmetry, each board sends as much to the west as to the
 * east, so what holds for eastward links holds for westward ones. */
struct traffic_on_line {
    unsigned side;
    double to_others; /* from each accelerator to those of other boards of its line */
    double direct;    /* share of pairs with two equally long ways that use the board */
};

/* Returns the share of pairs at a distance on their board that use its traces; the others use the network, whose way is
 * side + 1 - distance cables long. */
static double on_board(const struct traffic_on_line *t, unsigned distance)
{
    if (2 * distance == t->side + 1)
        return t->direct;
    return 2 * distance < t->side + 1;
}

/* Returns the share of an accelerator's traffic with other boards that uses the port at its board's high end. */
static double by_high_port(const struct traffic_on_line *t, unsigned at)
{
    return 2 * at + 1 == t->side ? 0.5 : 2 * at + 1 > t->side;
}

static double load_of_port(const struct traffic_on_line *t)
{
    double load = t->to_others * t->side / 2;
    for (unsigned distance = 1; distance < t->side; distance++)
        load += (t->side - distance) * (1 - on_board(t, distance));
    return load;
}

/* Returns the load of the trace from column `at` to the next one. */
static double load_of_trace(const struct traffic_on_line *t, unsigned at)
{
    double load = 0;
    for (unsigned column = 0; column < t->side; column++)
        load += t->to_others * (column <= at ? by_high_port(t, column) : 1 - by_high_port(t, column));
    for (unsigned distance = 1; distance < t->side; distance++) {
        for (unsigned low = 0; low + distance < t->side; low++) {
            unsigned high = low + distance;
            double direct = on_board(t, distance);
            load += low <= at && at < high ? direct : 1 - direct; /* from high to low: out by the high port, and in */
        }
    }
    return load;
}

static double fullest_of_board(const struct traffic_on_line *t)
{
    double most = load_of_port(t);
    for (unsigned at = 0; at + 1 < t->side; at++)
        most = fmax(most, load_of_trace(t, at));
    return most;
}

/* Chooses the share of ways of equal length that makes the ports and the middle trace, which all of them cross, equally
 * full, or the fuller of both as empty as it can be. */
static void split_ties(struct traffic_on_line *t)
{
    if (t->side % 2 == 0 || t->side == 1)
        return;
    double ties = (t->side - 1) / 2.0;
    double more = (load_of_port(t) - load_of_trace(t, t->side / 2)) / (2 * ties);
    t->direct = fmin(1, fmax(0, t->direct + more));
}

/* Returns the load of a leaf's uplinks: its boards send to all others. */
static double load_of_uplinks(const struct dimension *d)
{
    double most = 0;
    for (unsigned leaf = 0; d->network->spines && leaf < d->network->leaves; leaf++) {
        double here = leaf_ports_below(d->network, leaf, d->network->ports) / 2.0 * d->side;
        most = fmax(most, here * ((double)d->side * d->boards - here) / d->network->up);
    }
    return most;
}

/* Returns the same by search, for a tree with boards between two of its leaves. */
static double searched_load(const struct dimension *d)
{
    struct hx_geometry g;
    struct hx_fabric line;
    (void)hx_geometry_init(&g, d->side, 1, d->boards, 1, 1, d->g->radix, d->g->taper);
    hx_fabric_of_mesh(&line, &g);
    double load = (line.hosts - 1.0) / line.host_links / hx_alltoall_by_loads(&line);
    hx_fabric_free(&line);
    return load;
}

/* Returns the load of the fullest link of a line; 0: it is one accelerator long. */
static double fullest_of_line(const struct dimension *d)
{
    struct traffic_on_line t = {d->side, (double)d->side * (d->boards - 1), 0};
    if (d->side * d->boards == 1)
        return 0;
    if (d->network->spines && d->network->down % 2)
        return searched_load(d);
    split_ties(&t);
    return fmax(fullest_of_board(&t), load_of_uplinks(d));
}

double hx_alltoall_bound(const struct hx_geometry *g)
{
    struct dimension rows = rows_of(g);
    struct dimension columns = columns_of(g);
    double load = fmax(fullest_of_line(&rows) * g->rows, fullest_of_line(&columns) * g->columns);
    return load > 0 ? fmin(1, (g->accelerators - 1.0) / (4 * load)) : 1;
}
