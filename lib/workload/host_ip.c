/* host_ip.c - IP addresses of hosts (host_ip.h). */
#include "workload/host_ip.h"

#include <string.h>

#define NETWORK UINT32_C(10)
enum { FIRST = 1 /* last byte */, BYTE = 256, HOSTS = 65536 /* with one last byte */ };

static bool is_by_place(const struct hx_fabric *g)
{
    const struct hx_coordinate ranges = hx_coordinate_ranges(g);
    return ranges.addr_hi <= BYTE && ranges.addr_lo <= BYTE;
}

uint32_t host_ip(const struct hx_fabric *g, uint32_t host)
{
    const struct hx_coordinate at = hx_coordinate_of(g, host);
    if (is_by_place(g))
        return NETWORK << 24 | (uint32_t)at.addr_hi << 16 | (uint32_t)at.addr_lo << 8 | FIRST;
    return NETWORK << 24 | host % HOSTS << 8 | (FIRST + host / HOSTS);
}

uint32_t host_of_ip(const struct hx_fabric *g, uint32_t ip)
{
    const uint32_t place = ip >> 8 & (HOSTS - 1);
    const uint32_t last = ip % BYTE;
    if (ip >> 24 != NETWORK || last < FIRST)
        return HX_NOWHERE;
    if (is_by_place(g))
        return last == FIRST ? hx_host_at(g, place / BYTE, place % BYTE) : HX_NOWHERE;
    const uint32_t host = (last - FIRST) * HOSTS + place;
    return host < g->hosts ? host : HX_NOWHERE;
}

/* ---- IPv6 ---- */

enum { ADDR_HI_AT = 12, ADDR_LO_AT = 14 }; /* of 16 bytes */
static const uint8_t networks[HOST_IP6S][ADDR_HI_AT] = {
    [HOST_IP6_FABRIC] = {0xfd, 0x68, 0x78, 0x6d, 0x65, 0x73},
    [HOST_IP6_LINK] = {0xfe, 0x80},
};

struct in6_addr host_ip6(const struct hx_fabric *g, uint32_t host, enum host_ip6 network)
{
    struct hx_coordinate at = hx_coordinate_of(g, host);
    struct in6_addr ip;
    memcpy(ip.s6_addr, networks[network], ADDR_HI_AT);
    ip.s6_addr[ADDR_HI_AT] = (uint8_t)(at.addr_hi >> 8);
    ip.s6_addr[ADDR_HI_AT + 1] = (uint8_t)at.addr_hi;
    ip.s6_addr[ADDR_LO_AT] = (uint8_t)(at.addr_lo >> 8);
    ip.s6_addr[ADDR_LO_AT + 1] = (uint8_t)at.addr_lo;
    return ip;
}

uint32_t host_of_ip6(const struct hx_fabric *g, const struct in6_addr *ip)
{
    const uint8_t *byte = ip->s6_addr;
    for (unsigned network = 0; network < HOST_IP6S; network++) {
        if (memcmp(byte, networks[network], ADDR_HI_AT) == 0)
            return hx_host_at(g, (unsigned)byte[ADDR_HI_AT] << 8 | byte[ADDR_HI_AT + 1],
                              (unsigned)byte[ADDR_LO_AT] << 8 | byte[ADDR_LO_AT + 1]);
    }
    return HX_NOWHERE;
}
