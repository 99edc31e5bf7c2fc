/* hamming_mesh.h - a HammingMesh as one topology among the others; include/hxmesh/geometry.h says where everything
 * is. */
#ifndef HXMESH_TOPOLOGY_HAMMING_MESH_H
#define HXMESH_TOPOLOGY_HAMMING_MESH_H

#include "topology/topology.h"

/* What "4x4 Hx2Mesh", "3x2 H2x4Mesh" or "4x4 Hx2Mesh fail=board1,0+board2,3" says, case and spaces free; false: it is
 * not written like one. Ranges are not looked at. */
struct hx_mesh_sides {
    unsigned x, y;                /* columns and rows of boards */
    unsigned a, b;                /* columns and rows of accelerators on a board */
    char failures[HX_SPEC_BYTES]; /* behind fail=, in small letters without spaces; "": nothing */
};
bool hx_mesh_parse(const char *text, struct hx_mesh_sides *sides);

/* Marks the boards that have failed, by Y * x + X. false, with what and why: a name is none of its boards, or no board
 * is left. */
bool hx_mesh_failures(const struct hx_mesh_sides *sides, bool *failed, struct hx_problem *problem);

/* The graph of a geometry that is good. */
void hx_fabric_of_mesh(struct hx_fabric *f, const struct hx_geometry *g);

#endif
