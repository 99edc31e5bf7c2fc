/* hamming_mesh.h - a HammingMesh as one topology among the others; include/hxmesh/geometry.h says where everything is. */
#ifndef HXMESH_HOST_HAMMING_MESH_H
#define HXMESH_HOST_HAMMING_MESH_H

#include "host/topology/fabric.h"

/* The four numbers of "4x4 Hx2Mesh" or "3x2 H2x4Mesh", case and spaces free; false: it is not written like one. Ranges are
 * not looked at. */
struct hx_mesh_sides {
    unsigned x, y; /* columns and rows of boards */
    unsigned a, b; /* columns and rows of accelerators on a board */
};
bool hx_mesh_parse(const char *text, struct hx_mesh_sides *sides);

/* The graph of a geometry that is good. */
void hx_fabric_of_mesh(struct hx_fabric *f, const struct hx_geometry *g);

#endif
