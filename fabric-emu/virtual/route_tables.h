/* route_tables.h - the route tables of a worker's nodes. */
#ifndef ROUTE_TABLES_H
#define ROUTE_TABLES_H

#include "base/table.h"
#include "model.h"
#include "spec/around_links.h"

/* Builds tables of nodes. Nodes have the same memory where their tables have equal bytes: a HammingMesh has few
 * different tables by addr_hi, and few by addr_lo. Under faults each node has its own memory. */
struct route_builder {
    struct job_boards boards;
    uint64_t *scratch; /* tables of one node */
    size_t room;       /* bytes of it */
    struct hx_table shared;
};

struct route_builder route_builder_open(const struct model *m);
void route_builder_close(struct route_builder *b);

/* Builds the tables of a node for the ports that are up. */
void route_tables_make(struct route_builder *b, const struct model *m, uint32_t node, struct virtual_node *n);

/* The memory of a node's tables. */
void *route_tables_of(const struct virtual_node *n);

/* Rebuilds the tables of a node in place, by the routes of *g. Only under faults. */
void route_tables_refill(const struct model *m, const struct hx_fabric *g, uint32_t node, struct virtual_node *n,
                         struct job_boards *boards);

#endif
