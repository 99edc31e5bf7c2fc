/* mesh_alltoall.h - the all-to-all bound of a HammingMesh. Per plane, without failures.
 *
 * The bound is the share of its injection (4 links) at which every accelerator can send equally to all others, over
 * minimal paths. Rows and columns share no link, and packets that finish X before they turn to Y load all rows
 * alike. So the bound is that of one row, or one column. In a row each ordered pair of the a*x columns carries the
 * traffic of `rows` accelerators: with L the load of the fullest link if each pair sends 1,
 *     s * 4 * rows / (n - 1) * L <= 1                        s <= (n - 1) / (4 * rows * L)
 * The loads of a row:
 *     a port     half the traffic to other boards, a * a*(x-1) / 2, and the pairs of its own board for which the
 *                network is nearer: distance + distance > a + 1
 *     a trace    pairs of its board on both sides, and what goes to or comes from the nearer port across it
 *     uplinks    of a leaf with k boards: a*k * a*(x-k), shared by its `up` uplinks
 * Two ways can be equally long. From the middle column of a board, each port takes half, by symmetry. Pairs with
 * distance + distance = a + 1 all cross the middle trace or both ports. So they divide until these are equally full. If
 * a leaf has an odd number of ports, a board may lie on two; a search on one row answers then (topology/loads.h). */
#ifndef HXMESH_TOPOLOGY_MESH_ALLTOALL_H
#define HXMESH_TOPOLOGY_MESH_ALLTOALL_H

#include "hxmesh/geometry.h"

double hx_alltoall_bound(const struct hx_geometry *g);

#endif
