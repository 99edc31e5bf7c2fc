/* latency.c - latency of a packet in a node at part of its maximal load (nodes.h).
 *
 * One thread plays the neighbours and the node in turn, with a clock that only runs for the node. Packets arrive by
 * this clock; a loop takes those that are due when it begins, and its departures leave when it ends. A loop that
 * took longer than possible was interrupted, by another program or by the host of a virtual machine: it counts as an
 * ordinary one. */
#include "nodes/dpdk/core.h"
#include "nodes/dpdk/devices.h"
#include "tests/bench/dpdk/nodes.h"
#include "tests/bench/measure.h"

#include <math.h>
#include <rte_cycles.h>
#include <rte_ring.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CABLE_FRAMES = 1024, INTERRUPTED = 12000 /* ticks: more than a loop of four full bursts takes */ };

struct paced {
    struct node_config config;
    struct node node;
    char name[NODES_PORTS][2][32];
    struct rte_ring *in[NODES_PORTS], *out[NODES_PORTS];
    double now, due; /* ticks of the node's clock */
    double samples[LATENCY_PACKETS];
    unsigned taken, interrupted;
};

static void lay_cables(struct paced *l)
{
    struct rte_mempool *unused = rte_pktmbuf_pool_create("paced", 31, 0, 0, 256, 0);
    const struct device_needs needs = {.mtu = NODE_FULL_MTU, .queue = 32, .pool = unused};
    for (unsigned port = 0; port < NODES_PORTS; port++) {
        uint16_t ends[2];
        for (unsigned end = 0; end < 2; end++)
            (void)snprintf(l->name[port][end], sizeof l->name[port][end], "paced%s%u", hx_port_letters[port], end);
        const char *const both[2] = {l->name[port][0], l->name[port][1]};
        device_pair(both, ends, CABLE_FRAMES, &needs);
        l->in[port] = rte_ring_lookup(both[0]);
        l->out[port] = rte_ring_lookup(both[1]);
    }
}

static void open_node(struct paced *l)
{
    struct node_values values = node_default_values;
    values.fabric = "2x2 Hx4Mesh";
    values.node = "a1,1/p0";
    values.ports = "E=net_ring_pacedE0,W=net_ring_pacedW0,N=net_ring_pacedN0,S=net_ring_pacedS0";
    values.lcores = "E=0,W=0,N=0,S=0";
    values.queue = 32;
    values.given = NODE_GIVEN_QUEUE;
    node_config_load(&l->config, NULL, &values);
    node_open(&l->node, &l->config);
    nodes_bring_up(&l->node);
    for (unsigned port = 0; port < NODES_PORTS; port++)
        nodes_greet(&l->node.port[port]);
}

/* ---- neighbours ---- */

/* A packet due at l->due, by a random input. */
static void send_one(struct paced *l)
{
    unsigned input = nodes_random(NODES_PORTS);
    struct hx_header h = {.vc = (uint8_t)nodes_random(HX_MESH_VCS),
                          .credit_vc = HX_NO_CREDIT,
                          .kind = HX_DATA,
                          .message_packets = 1,
                          .epoch = 1,
                          .tag = (uint32_t)(uint64_t)l->due};
    uint64_t ports = 0;
    while (ports == 0 || ports >> HX_LOCAL & 1) {
        h.dst_addr_hi = (uint16_t)nodes_random(l->config.g.columns);
        h.dst_addr_lo = (uint16_t)nodes_random(l->config.g.rows);
        ports = hx_route_ports(&l->node.core[0]->sw.route, input, h.dst_addr_hi, h.dst_addr_lo);
    }
    struct rte_mbuf *m = rte_pktmbuf_alloc(node_pool(&l->node, HX_E));
    if (!m)
        return;
    hx_frame_encode((uint8_t *)rte_pktmbuf_append(m, HX_HEADER_BYTES), &h);
    if (rte_ring_enqueue(l->in[input], m) != 0)
        rte_pktmbuf_free(m);
}

static void take_one(struct paced *l, struct rte_mbuf *m)
{
    const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
    bool data = hx_frame_ethertype(frame, HX_HEADER_BYTES) == HX_ETHERTYPE_DATA;
    if (data && l->taken < LATENCY_PACKETS)
        l->samples[l->taken++] = (double)((uint32_t)(uint64_t)l->now - hx_get32(frame + HX_AT_TAG));
    rte_pktmbuf_free(m);
}

static void take_all(struct paced *l)
{
    for (unsigned port = 0; port < NODES_PORTS; port++) {
        void *m;
        while (rte_ring_dequeue(l->out[port], &m) == 0)
            take_one(l, m);
    }
}

/* ---- the node ---- */

static void loop(struct paced *l)
{
    static uint64_t usual = 1000;
    uint64_t start = rte_rdtsc();
    for (unsigned port = 0; port < NODES_PORTS; port++)
        nodes_grant(&l->node.port[port]);
    (void)core_loop(l->node.core[0]);
    uint64_t ticks = rte_rdtsc() - start;
    l->interrupted += ticks > INTERRUPTED;
    usual = ticks > INTERRUPTED ? usual : ticks;
    l->now += (double)usual;
}

static void close_node(struct paced *l)
{
    node_close(&l->node);
    buffers_close(&l->node.buffers);
    for (unsigned port = 0; port < NODES_PORTS; port++) {
        uint16_t outer;
        char device[48];
        (void)snprintf(device, sizeof device, "net_ring_%s", l->name[port][1]);
        if (rte_eth_dev_get_port_by_name(device, &outer) == 0)
            device_close(outer);
        rte_ring_free(l->in[port]);
        rte_ring_free(l->out[port]);
    }
    node_config_free(&l->config);
}

struct latency latency_measure(double gap)
{
    struct paced *l = calloc(1, sizeof *l);
    if (!l)
        rte_panic("no memory\n");
    lay_cables(l);
    open_node(l);
    while (l->taken < LATENCY_PACKETS) {
        while (l->due <= l->now) {
            send_one(l);
            l->due -= log((1 + nodes_random(UINT32_MAX - 1)) / (double)UINT32_MAX) * gap;
        }
        loop(l);
        take_all(l);
    }
    struct measured all = measure_summary(l->samples, LATENCY_PACKETS);
    double to_ns = 1e9 / (double)rte_get_tsc_hz();
    const struct latency result = {.p50 = all.median * to_ns,
                                   .p99 = l->samples[LATENCY_PACKETS / 100 * 99] * to_ns,
                                   .p999 = l->samples[LATENCY_PACKETS / 1000 * 999] * to_ns,
                                   .most = all.most * to_ns,
                                   .interrupted = l->interrupted};
    close_node(l);
    free(l);
    return result;
}
