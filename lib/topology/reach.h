/* reach.h - whether routes lead a packet from one host to another, by any choice that they leave to nodes.
 *
 * A packet may still end elsewhere: adaptive nodes may choose a dead end. Sent again, it gets through in the end. */
#ifndef HXMESH_REACH_H
#define HXMESH_REACH_H

#include "hxmesh/around.h"
#include "topology/fabric.h"

/* Returns the routes of a node, valid until the next call. Their turn masks leave out links that are down. */
typedef const struct hx_route *hx_routes_of(void *of, uint32_t node);

/* Follows all paths of a packet without detours. A packet that a tree switch returns reaches no further host: its VC
 * does not suffice for one more crossing. */
bool hx_reaches(const struct hx_fabric *f, uint32_t from, uint32_t to, hx_routes_of *routes_of, void *of);

#endif
