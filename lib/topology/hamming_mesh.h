/* hamming_mesh.h - HammingMesh as a topology; include/hxmesh/geometry.h has its geometry. */
#ifndef HXMESH_TOPOLOGY_HAMMING_MESH_H
#define HXMESH_TOPOLOGY_HAMMING_MESH_H

#include "topology/topology.h"

/* Parses "4x4 Hx2Mesh", "3x2 H2x4Mesh" or "4x4 Hx2Mesh fail=board1,0+board2,3", ignoring case and spaces. Returns false
 * on another form. Does not check ranges. */
struct hx_mesh_sides {
    unsigned x, y;                /* columns and rows of boards */
    unsigned a, b;                /* columns and rows of accelerators on a board */
    char failures[HX_SPEC_BYTES]; /* after fail=, in lower case without spaces; "": none */
};
bool hx_mesh_parse(const char *text, struct hx_mesh_sides *sides);

/* Marks failed boards, by Y * x + X. Returns false and sets *problem if a name is not one of its boards, or no board is
 * left. */
bool hx_mesh_failures(const struct hx_mesh_sides *sides, bool *failed, struct hx_problem *problem);

/* Builds the graph of a valid geometry. */
void hx_fabric_of_mesh(struct hx_fabric *f, const struct hx_geometry *g);

#endif
