/* mesh_alltoall.c - the fullest link of a HammingMesh under all-to-all (mesh_alltoall.h has the derivation). */
#include "topology/mesh_alltoall.h"

#include "topology/hamming_mesh.h"
#include "topology/loads.h"

#include <math.h>

/* One dimension: the boards of a line, and the accelerators of a board along it. */
struct dimension {
    const struct hx_geometry *g;
    const struct hx_network *network;
    unsigned side;
    unsigned boards;
};

/* Traffic of a line on which each accelerator sends 1 to each other. By symmetry, each board sends as much to the west
 * as to the east, so what holds for eastward links holds for westward ones. */
struct traffic_on_line {
    unsigned side;
    double to_others; /* from each accelerator to those of other boards of its line */
    double direct;    /* share of pairs with two equally long ways that use the board */
};

/* Returns the share of pairs at a distance on their board that use its traces. The others use the network, a way of
 * side + 1 - distance cables. */
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

/* Returns the load of a leaf's uplinks: its boards send to all others. Only the last leaf may have fewer boards. */
static double load_of_uplinks(const struct dimension *d)
{
    const struct hx_network *n = d->network;
    double most = 0;
    for (unsigned leaf = 0; n->spines && leaf < n->leaves; leaf++) {
        double here = fmin(n->down, (double)n->ports - (double)leaf * n->down) / 2 * d->side;
        most = fmax(most, here * ((double)d->side * d->boards - here) / n->up);
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
    const struct dimension rows = {g, &g->row, g->a, g->x};
    const struct dimension columns = {g, &g->column, g->b, g->y};
    double load = fmax(fullest_of_line(&rows) * g->rows, fullest_of_line(&columns) * g->columns);
    return load > 0 ? fmin(1, (g->accelerators - 1.0) / (4 * load)) : 1;
}
