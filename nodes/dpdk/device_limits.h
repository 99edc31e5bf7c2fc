/* device_limits.h - checks, before a device is configured, that it carries the frames of a node. */
#ifndef DPDK_NODE_DEVICE_LIMITS_H
#define DPDK_NODE_DEVICE_LIMITS_H

#include "base/error.h"

#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <stdbool.h>
#include <stdint.h>

/* Settings of a device. */
struct device_needs {
    unsigned mtu;   /* bytes behind the Ethernet header of the largest frame */
    unsigned queue; /* descriptors, if the device allows a choice */
    struct rte_mempool *pool;
    bool foreign;  /* mbufs of other pools may be sent */
    bool chained;  /* frames may be sent that lie in several mbufs */
    bool isolated; /* takes the EtherTypes of hxmesh alone (device_modes.h) */
};

/* A device and its port, for messages. */
struct device_place {
    const char *where; /* "port E" */
    const char *name;  /* of the device */
};

/* Checks a device. *mtu: the MTU to configure; 0: the device keeps its own. Returns false with a problem. */
bool device_limits_check(const struct device_place *at, const struct rte_eth_dev_info *info,
                         const struct device_needs *needs, uint32_t *mtu, struct hx_problem *problem);

/* True for a memif that connects, its default: it starts only while the other side listens. */
bool device_connects(const struct rte_eth_dev_info *info);

/* True if frames can arrive in several mbufs. */
bool device_chains(const struct rte_eth_dev_info *info);

#endif
