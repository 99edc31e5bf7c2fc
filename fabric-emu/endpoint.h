/* endpoint.h - what the configurations of all endpoints say alike, whatever drives them. */
#ifndef ENDPOINT_H
#define ENDPOINT_H

#include "hxmesh/endpoint.h"
#include "waits.h"

#define NS_PER_MS UINT64_C(1000000)

/* Where it is, and that it is there on all planes. */
static inline struct hx_endpoint_config endpoint_config(const struct hx_geometry *g, uint32_t rank)
{
    struct hx_place at = hx_place_of(g, rank);
    return (struct hx_endpoint_config){.gx = at.gx,
                                       .gy = at.gy,
                                       .columns = g->columns,
                                       .rows = g->rows,
                                       .plane_set = (uint8_t)((1U << g->planes) - 1)};
}

/* How long it waits among processes of one machine (waits.h). */
static inline void endpoint_waits(struct hx_endpoint_config *config)
{
    config->timeout_ns = WAIT_FIRST_MS * NS_PER_MS;
    config->least_ns = WAIT_LEAST_MS * NS_PER_MS;
    config->most_ns = WAIT_MOST_MS * NS_PER_MS;
}

#endif
