/* endpoint.h - endpoint configuration that all drivers share. */
#ifndef ENDPOINT_H
#define ENDPOINT_H

#include "hxmesh/endpoint.h"
#include "waits.h"

#define NS_PER_MS UINT64_C(1000000)

/* Address, planes and first acknowledgement of a host. Hosts with one link to a router differ in first_ack, which
 * spreads acknowledgements over time: in an all-to-all their links are as full as all others. Hosts that forward have
 * several paths with spare room. */
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
                                       .window = (uint8_t)hx_peer_window(g->planes),
                                       .plane_set = (uint8_t)((1U << g->planes) - 1)};
}

/* Sets the timeouts for processes on one machine (waits.h). */
static inline void endpoint_waits(struct hx_endpoint_config *config)
{
    config->timeout_ns = WAIT_FIRST_MS * NS_PER_MS;
    config->least_ns = WAIT_LEAST_MS * NS_PER_MS;
    config->most_ns = WAIT_MOST_MS * NS_PER_MS;
}

#endif
