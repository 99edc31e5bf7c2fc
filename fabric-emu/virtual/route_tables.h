/* route_tables.h - the route tables of a worker's nodes. */
#ifndef ROUTE_TABLES_H
#define ROUTE_TABLES_H

#include "model.h"

/* Boards that packets of a job may not enter, cached: most hosts have the job of the previous one. */
struct route_off_limits {
    bool known, any;
    uint16_t job;
    uint8_t *bits; /* of all boards, if any */
};

/* An empty cache for the fabric's boards. The caller frees .bits. */
struct route_off_limits route_off_limits(const struct model *m);

/* Builds the tables of a node into `tables`, by the routes of *g, for the ports that are up. */
void route_tables_fill(const struct model *m, const struct hx_fabric *g, uint32_t node, struct virtual_node *n,
                       void *tables, struct route_off_limits *off_limits);

/* Rebuilds the tables of a node in place. */
void route_tables_refill(const struct model *m, const struct hx_fabric *g, uint32_t node, struct virtual_node *n);

#endif
