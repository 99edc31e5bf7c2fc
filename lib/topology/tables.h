/* tables.h - the tables of all nodes of a fabric, for loads and searches over minimal paths. */
#ifndef HXMESH_TOPOLOGY_TABLES_H
#define HXMESH_TOPOLOGY_TABLES_H

#include "topology/topology.h"

struct hx_tables {
    const struct hx_fabric *f;
    struct hx_route *route; /* [nodes] */
    void **memory;          /* [nodes] */
};

void hx_tables_make(struct hx_tables *t, const struct hx_fabric *f);
void hx_tables_free(struct hx_tables *t);

/* Returns the next hops of a node to a host at `attachment_router` (hx_fabric_attachment_router); 0 if the node is
 * it. */
uint64_t hx_tables_onward(const struct hx_tables *t, uint32_t node, uint32_t attachment_router, uint32_t host);

#endif
