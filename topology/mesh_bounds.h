/* mesh_bounds.h - the capacity and diameter of a HammingMesh. Per plane, without failures.
 *
 * Diameter: the longest minimal path between two accelerators, in cables; board traces count as cables.
 *
 * Straight cut: it cuts between two columns (or rows) of accelerators into parts that differ by at most one column, and
 * counts the directed links between them; the lesser of the two cuts. The paper calls it the bisection. Other halves
 * may have fewer links between them: 3x4 of 4x6 boards are half, and a network with boards 3 to 1 is cut at one board
 * (4x6 Hx1Mesh: 20 links, not 24; topology/bisection.h). Along one line of x boards a straight cut has
 *     x even   the cut falls between boards; the row network has x ports on either side         x links
 *     x odd    it goes through the middle board: its W edge on one side, its E edge on the other, one board trace
 *              more; (a = 1: it falls beside the middle board)                                   x + 1 (a = 1: x - 1)
 * A two-level tree may carry less than its ports; then the least cut through leaves and spines counts. The share is
 * relative to what half the accelerators inject (4 links each). x, y even and full trees: 1/(2a), 1/(2b).
 *
 * All-to-all bound: the share of its injection (4 links) at which every accelerator can send equally to all others.
 * Each of n accelerators sends n/(n-1) of what it would if it sent to itself too; r = (n-1)/n. The bound is the least
 * of 1 and, for each dimension (here rows; a and x become b and y for columns):
 *     x > 1   of a line's a*x accelerators' traffic, (x-1)/x / r crosses to another board, by 2x ports:
 *             s * 4 * a*x * (x-1)/x / r <= 2x                    s <= r/(2a) * x/(x-1)
 *     x = 1   the board is cut in the middle: per line, one trace and the network, each direction:
 *             s * 4 * (a/2) * 1/2 / r <= 2                       s <= r * 2/a         (a odd: r * 2a/(a*a-1))
 *     a leaf  with k boards wholly on it, o boards wholly elsewhere, and `up` uplinks:
 *             s * 4 * a*k * o/x / r <= up                        s <= r * up * x / (4a * k * o)
 *
 * Minimal routing carries less where boards are long. Between far columns of one board the network is the shorter path
 * for 2 * distance > a + 1 (equally long for 2 * distance = a + 1: half of these). This traffic needs the ports too.
 * The injection rate of all-to-all is what minimal routing carries with r = 1. For many accelerators that is the same;
 * for few it slightly exceeds what they can send, which keeps their cables full. */
#ifndef HXMESH_TOPOLOGY_MESH_BOUNDS_H
#define HXMESH_TOPOLOGY_MESH_BOUNDS_H

#include "hxmesh/geometry.h"

unsigned hx_diameter(const struct hx_geometry *g);

struct hx_straight_cut {
    uint64_t links; /* one direction; 0: a single accelerator has no cut */
    double share;
    bool halves; /* both parts have equally many accelerators */
};
struct hx_straight_cut hx_straight_cut_of(const struct hx_geometry *g);

double hx_alltoall_bound(const struct hx_geometry *g);
double hx_alltoall_injection_rate(const struct hx_geometry *g);

#endif
