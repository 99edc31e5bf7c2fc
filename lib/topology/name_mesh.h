/* name_mesh.h - the names of a HammingMesh's nodes and ports; topology/name.h serves any fabric. */
#ifndef HXMESH_TOPOLOGY_NAME_MESH_H
#define HXMESH_TOPOLOGY_NAME_MESH_H

#include "topology/name.h"

const char *hx_mesh_node_name(char name[HX_NAME_BYTES], const struct hx_geometry *g, unsigned plane, uint32_t node);
const char *hx_mesh_port_name(char name[HX_NAME_BYTES], const struct hx_geometry *g, unsigned plane, uint32_t node,
                              unsigned port);

bool hx_mesh_node_parse(const char *name, const struct hx_geometry *g, unsigned *plane, uint32_t *node);
bool hx_mesh_port_parse(const char *name, const struct hx_geometry *g, unsigned *plane, uint32_t *node, unsigned *port);
/* Parses an accelerator's port, "/E". Returns false if `text` is not one. */
bool hx_mesh_letter_parse(const char *text, unsigned *port);

#endif
