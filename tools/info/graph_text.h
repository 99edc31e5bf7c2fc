/* graph_text.h - one plane of a fabric as a graph for other tools.
 *
 * Nodes have their names (topology/name.h) without the plane, and with a point for the comma: a5.3, leaf3,
 * router2.5. Nodes without a link are left out. */
#ifndef HXMESH_TOOLS_INFO_GRAPH_TEXT_H
#define HXMESH_TOOLS_INFO_GRAPH_TEXT_H

#include "topology/fabric.h"

void graph_text_dot(const struct hx_fabric *g, const char *name, const char *path);

/* Writes a list of links, "a,b,gbps,ns,kind", as `graph FILE` reads it. A node gets a line if its
 * number of links does not imply its role. Rate and latency are empty if they are the run's defaults. */
void graph_text_edges(const struct hx_fabric *g, const char *name, const char *path);

#endif
