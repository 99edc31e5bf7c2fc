/* route_tables.h - the route tables of a worker's nodes. */
#ifndef ROUTE_TABLES_H
#define ROUTE_TABLES_H

#include "model.h"

/* Boards that packets of a job may not land on. Each host asks, and mostly for the same job as the one before. */
struct route_off_limits {
    bool known, any;
    uint16_t job;
    uint8_t *bits; /* of all boards, if any */
};

/* For a fabric's boards; .bits is for free(). */
struct route_off_limits route_off_limits(const struct model *m);

/* Builds the tables of a node into `tables`, with the ports that are up, by the routes of *g. */
void route_tables_fill(const struct model *m, const struct hx_fabric *g, uint32_t node, struct virtual_node *n,
                       void *tables, struct route_off_limits *off_limits);

/* Likewise, into the memory of the tables that the node has. */
void route_tables_refill(const struct model *m, const struct hx_fabric *g, uint32_t node, struct virtual_node *n);

#endif
