/* name.h - the names of nodes and ports, the same in files, captures, reports and on the command line.
 *
 * Of any fabric:
 *     a5,3/p0              the host with address 5,3 in plane 0         a5,3/p0/E     its port: E W N S local
 *     leaf3/p0             a router, by the word of its topology        leaf3/p0/12   its port 12
 *     r2,5/p0              a router in a group                          s7/p0         a router without a word
 * Of a torus or mesh of one or two sides with searched routes, which has a router beside each host:
 *     a5,3/p0/E            the router's port, as without the router     a5,3/p0/trace the host's link to its router
 * Of a HammingMesh, which names its networks by line:
 *     a5,3/p0              accelerator 5,3 in plane 0           a5,3/p0/E            its port: E W N S local
 *     row3/p0/leaf1        a switch of the row network of line 3; leaf0 is the only crossbar of a small one
 *     row3/p0/12           network port 12: leaf * down + port  row3/p0/leaf1/up2    an uplink of a leaf
 *     col5/p0/spine0       a switch of a column network         col5/p0/spine0/7     a port of a spine
 *
 * A host's numbers are its coordinate (hx_coordinate_of). Formatting writes at most HX_NAME_BYTES with the final zero
 * and returns `name`. Parsing accepts names that formatting writes and that exist in the fabric; the "a" of an
 * accelerator is optional (5,3/p0/E), any router may be s7, and any of its ports has its number. */
#ifndef HXMESH_TOPOLOGY_NAME_H
#define HXMESH_TOPOLOGY_NAME_H

#include "topology/fabric.h"

#include <limits.h>
#include <stdbool.h>

enum { HX_NAME_BYTES = 40 };

const char *hx_node_name(char name[HX_NAME_BYTES], const struct hx_fabric *g, unsigned plane, uint32_t node);
const char *hx_port_name(char name[HX_NAME_BYTES], const struct hx_fabric *g, unsigned plane, uint32_t node,
                         unsigned port);

/* Formats a node without its plane, "leaf3"; not of a HammingMesh. */
const char *hx_place_name(char name[HX_NAME_BYTES], const struct hx_fabric *g, uint32_t node);

bool hx_node_parse(const char *name, const struct hx_fabric *g, unsigned *plane, uint32_t *node);
bool hx_port_parse(const char *name, const struct hx_fabric *g, unsigned *plane, uint32_t *node, unsigned *port);

/* Parses a node without its plane, or a port of it: "leaf3" (port HX_WHOLE_NODE), "leaf3/12", "a5,3/E"; not of a
 * HammingMesh. */
#define HX_WHOLE_NODE UINT_MAX
bool hx_place_parse(const char *name, const struct hx_fabric *g, uint32_t *node, unsigned *port);

/* Takes `word` and a number without leading zeros from *text. */
bool hx_name_take(const char **text, const char *word, unsigned *number);

/* "E", "W", "N", "S", "local". */
extern const char *const hx_port_letters[HX_ACCELERATOR_PORTS];

#endif
