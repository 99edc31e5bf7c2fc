/* device_limits.c - frame sizes, sockets and buffers of devices (device_limits.h). */
#include "device_limits.h"
#include "hal/wire/interface.h"
#include "hal_port.h"

#include <net/if.h>
#include <rte_dev.h>
#include <rte_devargs.h>
#include <stdlib.h>
#include <string.h>

enum { PACKET_RING_HEADER = 96 /* bytes that af_packet's ring adds to a frame */ };

/* ---- arguments ---- */

static bool is_memif(const struct rte_eth_dev_info *info)
{
    return strcmp(info->driver_name, "net_memif") == 0;
}

static const char *arguments_of(const struct rte_eth_dev_info *info)
{
    const struct rte_devargs *devargs = info->device ? rte_dev_devargs(info->device) : NULL;
    return devargs && devargs->args ? devargs->args : "";
}

/* Returns the number behind `key` in a device's arguments, or `otherwise`. */
static unsigned argument(const struct rte_eth_dev_info *info, const char *key, unsigned otherwise)
{
    const char *at = strstr(arguments_of(info), key);
    return at ? (unsigned)strtoul(at + strlen(key), NULL, 10) : otherwise;
}

bool device_connects(const struct rte_eth_dev_info *info)
{
    const char *arguments = arguments_of(info);
    return is_memif(info) && !strstr(arguments, "role=server") && !strstr(arguments, "role=master");
}

bool device_chains(const struct rte_eth_dev_info *info)
{
    return is_memif(info) && strstr(arguments_of(info), "zero-copy=yes");
}

/* ---- checks ---- */

/* Refuses an abstract socket, the default of a memif: it has neither owner nor mode. */
static bool check_socket(const struct device_place *at, const struct rte_eth_dev_info *info, struct hx_problem *problem)
{
    if (!is_memif(info) || strstr(arguments_of(info), "socket-abstract=no"))
        return true;
    return hx_fail(problem, HX_EXIT_CONFIG, at->where,
                   "%s: every user of this machine could connect to its socket, which is abstract (--vdev=%s,...,"
                   "socket-abstract=no)",
                   at->name, at->name);
}

/* A device that does not know chained mbufs would send the first alone. */
static bool check_chains(const struct device_place *at, const struct rte_eth_dev_info *info, bool chained,
                         struct hx_problem *problem)
{
    if (!chained || info->tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS)
        return true;
    return hx_fail(problem, HX_EXIT_ENVIRONMENT, at->where,
                   "%s (%s) sends no frames in several buffers, as a memif with zero-copy=yes brings them "
                   "(zero-copy=no there)",
                   at->name, info->driver_name);
}

static bool check_packet_socket(const struct device_place *at, const struct rte_eth_dev_info *info, unsigned mtu,
                                struct hx_problem *problem)
{
    char interface[IF_NAMESIZE] = "?";
    const unsigned has = info->if_index && if_indextoname(info->if_index, interface) ? interface_mtu(interface) : 0;
    if (has < mtu)
        return hx_fail(problem, HX_EXIT_ENVIRONMENT, at->where,
                       "%s: interface %s has an MTU of %u, frames need %u (ip link set %s mtu %u)", at->name, interface,
                       has, mtu, interface, mtu);
    const unsigned frame = argument(info, "framesz=", 2048);
    if (frame >= mtu + RTE_ETHER_HDR_LEN + PACKET_RING_HEADER)
        return true;
    return hx_fail(problem, HX_EXIT_ENVIRONMENT, at->where,
                   "%s: its ring has frames of %u bytes, %u are needed (--vdev=%s,...,"
                   "framesz=%u,blocksz=%u,framecnt=512)",
                   at->name, frame, mtu + RTE_ETHER_HDR_LEN + PACKET_RING_HEADER, at->name,
                   mtu > DPDK_MTU ? 8448U : 8352U, mtu > DPDK_MTU ? 135168U : 1069056U);
}

static bool check_declared(const struct device_place *at, const struct rte_eth_dev_info *info, unsigned mtu,
                           struct hx_problem *problem)
{
    if (info->max_mtu >= mtu && info->max_rx_pktlen >= mtu + RTE_ETHER_HDR_LEN)
        return true;
    unsigned most = info->max_mtu;
    if (most > info->max_rx_pktlen - RTE_ETHER_HDR_LEN - RTE_ETHER_CRC_LEN)
        most = info->max_rx_pktlen - RTE_ETHER_HDR_LEN - RTE_ETHER_CRC_LEN;
    return hx_fail(problem, HX_EXIT_ENVIRONMENT, at->where,
                   "%s (%s) carries an MTU of %u at most, frames need %u (another device; or --mtu %u in a "
                   "fabric with messages that short)",
                   at->name, info->driver_name, most, mtu, most);
}

/* The MTU that some devices declare (DPDK 22.11) is not the one they carry: memif fills several buffers, and a packet
 * socket has its interface's. */
bool device_limits_check(const struct device_place *at, const struct rte_eth_dev_info *info,
                         const struct device_needs *needs, uint32_t *mtu, struct hx_problem *problem)
{
    *mtu = 0;
    if (!check_chains(at, info, needs->chained, problem))
        return false;
    if (is_memif(info))
        return check_socket(at, info, problem);
    if (strcmp(info->driver_name, "net_af_packet") == 0)
        return check_packet_socket(at, info, needs->mtu, problem);
    *mtu = needs->mtu;
    return check_declared(at, info, needs->mtu, problem);
}
