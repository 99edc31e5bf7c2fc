/* endpoint.h - what the configurations of all endpoints say alike, whatever drives them. */
#ifndef ENDPOINT_H
#define ENDPOINT_H

#include "hxmesh/endpoint.h"
#include "waits.h"

#define NS_PER_MS UINT64_C(1000000)

/* Where it is, and that it is there on all planes. Beside a router a host has one link, and in an all-to-all those that
 * the acknowledgements for it come by are as full as all others: they are spread over time. Where hosts forward they
 * have several ways, and what else fills them leaves room. */
static inline struct hx_endpoint_config endpoint_config(const struct hx_fabric *g, uint32_t rank)
{
    struct hx_coordinate at = hx_address_of(g, rank);
    unsigned number = at.addr_lo * g->digits[0] + at.addr_hi;
    uint8_t first_ack = hx_hosts_forward(g) ? 0 : number % HX_ACK_EVERY;
    return (struct hx_endpoint_config){.addr_hi = (uint16_t)at.addr_hi,
                                       .addr_lo = (uint16_t)at.addr_lo,
                                       .columns = (uint16_t)g->digits[0],
                                       .rows = (uint16_t)g->digits[1],
                                       .first_ack = first_ack,
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
