/* host_ip.c - IP addresses of hosts (host_ip.h). */
#include "workload/host_ip.h"

#include <string.h>

enum { NETWORK = 10, HOST_BYTE = 1, BYTE = 256 };

static bool is_by_place(const struct hx_fabric *g)
{
    return g->digits[0] <= BYTE && g->digits[1] <= BYTE;
}

uint32_t host_ip(const struct hx_fabric *g, uint32_t host)
{
    struct hx_coordinate at = is_by_place(g) ? hx_address_of(g, host)
                                             : (struct hx_coordinate){(uint16_t)(host / BYTE), (uint16_t)(host % BYTE)};
    return (uint32_t)NETWORK << 24 | (uint32_t)at.addr_hi << 16 | (uint32_t)at.addr_lo << 8 | HOST_BYTE;
}

uint32_t host_of_ip(const struct hx_fabric *g, uint32_t ip)
{
    uint32_t high = ip >> 16 & 0xff;
    uint32_t low = ip >> 8 & 0xff;
    if (ip >> 24 != NETWORK || (ip & 0xff) != HOST_BYTE)
        return HX_NOWHERE;
    if (is_by_place(g))
        return hx_fabric_host(g, high, low);
    return high * BYTE + low < g->hosts ? high * BYTE + low : HX_NOWHERE;
}

/* ---- IPv6 ---- */

enum { ADDR_HI_AT = 12, ADDR_LO_AT = 14 }; /* of 16 bytes */
static const uint8_t networks[HOST_IP6S][ADDR_HI_AT] = {
    [HOST_IP6_FABRIC] = {0xfd, 0x68, 0x78, 0x6d, 0x65, 0x73},
    [HOST_IP6_LINK] = {0xfe, 0x80},
};

struct in6_addr host_ip6(const struct hx_fabric *g, uint32_t host, enum host_ip6 network)
{
    struct hx_coordinate at = hx_address_of(g, host);
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
            return hx_fabric_host(g, (unsigned)byte[ADDR_HI_AT] << 8 | byte[ADDR_HI_AT + 1],
                                  (unsigned)byte[ADDR_LO_AT] << 8 | byte[ADDR_LO_AT + 1]);
    }
    return HX_NOWHERE;
}
