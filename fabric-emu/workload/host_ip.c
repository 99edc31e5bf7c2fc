/* host_ip.c - addresses of hosts (host_ip.h). */
#include "fabric-emu/workload/host_ip.h"

enum { NETWORK = 10, HOST_BYTE = 1, BYTE = 256 };

static bool is_by_place(const struct hx_fabric *g)
{
    return g->digits[0] <= BYTE && g->digits[1] <= BYTE;
}

uint32_t host_ip(const struct hx_fabric *g, uint32_t host)
{
    struct hx_coordinate at = is_by_place(g) ? hx_address_of(g, host)
                                             : (struct hx_coordinate){(uint16_t)(host / BYTE), (uint16_t)(host % BYTE)};
    return (uint32_t)NETWORK << 24 | (uint32_t)at.d0 << 16 | (uint32_t)at.d1 << 8 | HOST_BYTE;
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
