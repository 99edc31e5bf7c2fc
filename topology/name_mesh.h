/* name_mesh.h - the names of a HammingMesh's nodes and ports; who does not know which fabric it is asks topology/name.h. */
#ifndef HXMESH_TOPOLOGY_NAME_MESH_H
#define HXMESH_TOPOLOGY_NAME_MESH_H

#include "topology/name.h"

const char *hx_mesh_node_name(char name[HX_NAME_BYTES], const struct hx_geometry *g, unsigned plane, uint32_t node);
const char *hx_mesh_port_name(char name[HX_NAME_BYTES], const struct hx_geometry *g, unsigned plane, uint32_t node,
                              unsigned port);

bool hx_mesh_node_parse(const char *name, const struct hx_geometry *g, unsigned *plane, uint32_t *node);
bool hx_mesh_port_parse(const char *name, const struct hx_geometry *g, unsigned *plane, uint32_t *node, unsigned *port);
/* The accelerator's port of "/E"; false: `text` is none of its letters. */
bool hx_mesh_letter_parse(const char *text, unsigned *port);

#endif
