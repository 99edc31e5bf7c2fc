/* buffers.c - sizes and makes the pools (buffers.h). */
#include "buffers.h"
#include "base/error.h"
#include "hal_port.h"

#include <rte_errno.h>
#include <stdio.h>

enum {
    POOL_CACHE = 256,
    SPARE_FRAMES = 256,
    /* Some NICs (ixgbe, igb) count their receive buffers in KiB; a frame with an authentication tag fits as well. */
    FRAME_ROOM = RTE_PKTMBUF_HEADROOM + 9 * 1024
};

/* Mbufs for all credit: a block may be a packet, and a packet is an mbuf. In addition: the devices' queues, the
 * endpoint, and the caches of lcores. */
static uint32_t frames_needed(const struct node_config *c, uint32_t blocks, unsigned ends, unsigned pools)
{
    const uint32_t of_port = dpdk_port_frames(c->vcs, blocks, c->spec.credits) + 2U * (uint32_t)c->values.queue;
    return ends * of_port + pools * (DPDK_ENDPOINT_BUFFERS + rte_lcore_count() * 2U * POOL_CACHE + SPARE_FRAMES);
}

static uint32_t blocks_for(const struct node_config *c, uint32_t frames, unsigned pools)
{
    const unsigned ends = node_ports_used(c) + c->has_endpoint;
    uint32_t blocks = c->spec.credits;
    while (blocks > HX_PACKET_BLOCKS && frames_needed(c, blocks, ends, pools) > frames)
        blocks -= HX_PACKET_BLOCKS;
    if (frames_needed(c, blocks, ends, pools) > frames)
        hx_die(HX_EXIT_CONFIG, "--frames", "%u frames are too few: %u ports need at least %u", frames,
               node_ports_used(c), frames_needed(c, blocks, ends, pools));
    return blocks;
}

/* Descriptors have 48 bits for a frame's address (hal/dpdk/port.h). */
static void check_addresses(struct rte_mempool *pool, void *all_fit, struct rte_mempool_memhdr *memory, unsigned number)
{
    (void)pool;
    (void)number;
    *(bool *)all_fit = *(bool *)all_fit && ((uintptr_t)memory->addr + memory->len) >> DPDK_ADDRESS_BITS == 0;
}

static struct rte_mempool *make_pool(const struct node_config *c, int numa, uint32_t frames)
{
    char name[32];
    bool all_fit = true;
    (void)snprintf(name, sizeof name, "hx_%u_%u_%d", c->node, c->plane, numa);
    struct rte_mempool *pool = rte_pktmbuf_pool_create(name, frames, POOL_CACHE, 0, FRAME_ROOM, numa);
    if (!pool) {
        pool = rte_pktmbuf_pool_create(name, frames, POOL_CACHE, 0, FRAME_ROOM, SOCKET_ID_ANY);
        if (pool)
            hx_warn(NULL, "NUMA node %d has no memory for %u frames: they lie elsewhere, and cost more (--socket-mem)",
                    numa, frames);
    }
    if (!pool)
        hx_die(HX_EXIT_ENVIRONMENT, NULL,
               "no memory for %u frames, %u MiB: %s (EAL's -m or more huge pages; --frames or --credits for fewer)",
               frames, (unsigned)((uint64_t)frames * (FRAME_ROOM + 192U) >> 20), rte_strerror(rte_errno));
    (void)rte_mempool_mem_iter(pool, check_addresses, &all_fit);
    if (!all_fit)
        hx_die(HX_EXIT_ENVIRONMENT, NULL,
               "EAL's memory lies at addresses of more than %u bits (its argument --base-virtaddr)",
               (unsigned)DPDK_ADDRESS_BITS);
    return pool;
}

void buffers_open(struct buffers *b, const struct node_config *c, const int *numa)
{
    unsigned ends[RTE_MAX_NUMA_NODES] = {0};
    for (unsigned port = 0; port < c->ports; port++) {
        if (!c->port[port].device[0])
            continue;
        b->pools += ends[numa[port]] == 0;
        ends[numa[port]] += 1U + (c->has_endpoint && port == HX_LOCAL);
    }
    const uint32_t all = frames_needed(c, c->spec.credits, node_ports_used(c) + c->has_endpoint, b->pools);
    b->frames = c->values.frames ? (uint32_t)c->values.frames : all;
    b->blocks = blocks_for(c, b->frames, b->pools);
    const uint32_t least = frames_needed(c, b->blocks, node_ports_used(c) + c->has_endpoint, b->pools);
    for (int at = 0; at < RTE_MAX_NUMA_NODES; at++) {
        const uint64_t share = frames_needed(c, b->blocks, ends[at], 1);
        if (ends[at])
            b->pool[at] = make_pool(c, at, (uint32_t)(share * b->frames / least));
    }
}

void buffers_close(struct buffers *b)
{
    for (int at = 0; at < RTE_MAX_NUMA_NODES; at++)
        rte_mempool_free(b->pool[at]);
}
