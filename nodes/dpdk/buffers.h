/* buffers.h - packet buffers of a node: a pool of mbufs on each NUMA node that has ports of it. */
#ifndef DPDK_NODE_BUFFERS_H
#define DPDK_NODE_BUFFERS_H

#include "config.h"

#include <rte_lcore.h>
#include <rte_mbuf.h>

struct buffers {
    struct rte_mempool *pool[RTE_MAX_NUMA_NODES]; /* by NUMA node; NULL: no port is there */
    unsigned pools;
    uint32_t frames; /* mbufs of all pools */
    uint32_t blocks; /* a VC that the node grants: those of the fabric, or as many as the frames allow */
};

/* `numa`: NUMA node of each port with a device. Exits with an error. */
void buffers_open(struct buffers *b, const struct node_config *c, const int *numa);
void buffers_close(struct buffers *b);

#endif
