/* host_payload.h - payload that a host of a fabric sends, and checks as it arrives, for all kinds of workload. */
#ifndef HOST_PAYLOAD_H
#define HOST_PAYLOAD_H

#include "workload/payload.h"
#include "workload/traffic.h"

/* Writes payload of a packet that host `own` sends. */
static inline void host_payload_fill(const struct traffic *t, uint32_t own, const struct hx_send *s, uint32_t packet,
                                     uint8_t *to, unsigned bytes)
{
    const uint32_t destination = hx_fabric_host(t->g, s->dst_addr_hi, s->dst_addr_lo);
    payload_fill(t->settings.seed, own, destination, s, packet, to, bytes);
}

/* Number of wrong bytes in a packet that host `own` received: all, if no host has the address of its sender. */
static inline uint64_t host_payload_check(const struct traffic *t, uint32_t own, const struct hx_header *h,
                                          const uint8_t *payload)
{
    const uint32_t source = hx_fabric_host(t->g, h->src_addr_hi, h->src_addr_lo);
    return source == HX_NOWHERE ? h->length : payload_check(t->settings.seed, source, own, h, payload);
}

#endif
