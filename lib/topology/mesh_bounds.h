/* mesh_bounds.h - diameter and straight cut of a HammingMesh. Per plane, without failures.
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
 * relative to what half the accelerators inject (4 links each). x, y even and full trees: 1/(2a), 1/(2b). */
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

#endif
