/* rings.c - a node over net_ring with its ports joined to each other (nodes.h).
 *
 * Packets that leave by E arrive by W: one for the east circles by E, one for the south-east by E or S, as the
 * switch selects. So the node is its own neighbour, with true routes, VCs, credit and credit frames. */
#include "nodes/dpdk/core.h"
#include "nodes/dpdk/devices.h"
#include "tests/bench/dpdk/nodes.h"
#include "tests/bench/measure.h"
#include "tests/support/support_random.h"

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_mempool.h>
#include <rte_ring.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { CREDITS = 1024, CABLE_FRAMES = 2048, NULL_POOL = 2047 };

struct rings {
    struct node_config config;
    struct node node;
    char name[NODES_PORTS][32];
    struct rte_mempool *pool[NODES_PORTS]; /* over net_null: received frames of each port */
    bool grants;                           /* over net_null: the cores grant credit instead of a peer */
    _Atomic bool stop;
};

static const unsigned opposite[NODES_PORTS] = {[HX_E] = HX_W, [HX_W] = HX_E, [HX_N] = HX_S, [HX_S] = HX_N};

void nodes_start_eal(bool *two)
{
    static char folder[] = "/tmp/hxmesh-bench-XXXXXX";
    *two = sysconf(_SC_NPROCESSORS_ONLN) > 1;
    char *lcores = *two ? "0@(0-1),1@(0-1)" : "0@0,1@0";
    char *arguments[] = {"bench",       "--no-huge", "-m",   "1024",        "--no-pci", "--no-telemetry",
                         "--no-shconf", "--lcores",  lcores, "--log-level", "critical", NULL};
    if (!mkdtemp(folder) || setenv("RUNTIME_DIRECTORY", folder, 1) != 0 || rte_eal_init(11, arguments) < 0)
        rte_panic("EAL does not start\n");
    measure_remove_runtime(folder);
}

uint32_t nodes_random(uint32_t below)
{
    static uint64_t state = 1;
    return seeded_below(&state, below);
}

struct hx_header nodes_header(const struct hx_route *route, unsigned input, unsigned vc, unsigned bytes)
{
    struct hx_header h = {.vc = (uint8_t)vc,
                          .credit_vc = HX_NO_CREDIT,
                          .kind = HX_DATA,
                          .message_packets = 1,
                          .length = (uint16_t)(bytes - HX_HEADER_BYTES),
                          .epoch = 1};
    uint64_t ports = 0;
    while (ports == 0 || ports >> HX_LOCAL & 1) {
        h.dst_addr_hi = (uint16_t)nodes_random(route->columns);
        h.dst_addr_lo = (uint16_t)nodes_random(route->rows);
        ports = hx_route_ports(route, input, h.dst_addr_hi, h.dst_addr_lo);
    }
    return h;
}

void nodes_bring_up(struct node *n)
{
    (void)node_watch_links(n);
    atomic_store(&n->up, atomic_load(&n->carrier));
    for (unsigned i = 0; i < n->cores; i++) {
        n->core[i]->looked_at = INT64_MAX;
        (void)core_loop(n->core[i]);
    }
}

/* ---- cables ---- */

static void lay_cables(struct rings *r, unsigned place)
{
    static struct rte_mempool *unused;
    unused = unused ? unused : rte_pktmbuf_pool_create("cables", 31, 0, 0, 256, 0);
    const struct device_needs needs = {.mtu = NODE_FULL_MTU, .queue = 32, .pool = unused};
    for (unsigned port = 0; port < NODES_PORTS; port++)
        (void)snprintf(r->name[port], sizeof r->name[port], "rings%u%s", place, hx_port_letters[port]);
    for (unsigned port = 0; port < NODES_PORTS; port++) {
        const char *const both[2] = {r->name[port], r->name[opposite[port]]};
        uint16_t ends[2];
        if (port < opposite[port])
            device_pair(both, ends, CABLE_FRAMES, &needs);
    }
}

static void configure(struct rings *r, unsigned place, const char *lcores)
{
    char node[HX_NAME_BYTES];
    char ports[256] = "";
    size_t used = 0;
    for (unsigned port = 0; port < NODES_PORTS; port++)
        used += (size_t)snprintf(ports + used, sizeof ports - used, "%s=%s%s,", hx_port_letters[port],
                                 r->grants ? "" : "net_ring_", r->name[port]);
    (void)snprintf(node, sizeof node, "a%u,%u/p0", place, place);
    struct node_values values = node_default_values;
    values.fabric = "2x2 Hx4Mesh";
    values.node = node;
    values.ports = ports;
    values.lcores = lcores;
    values.sizes.credits = CREDITS;
    values.queue = 32;
    values.given = NODE_GIVEN_QUEUE;
    node_config_load(&r->config, NULL, &values);
}

static void loop_all(struct rings *r)
{
    for (unsigned i = 0; i < r->node.cores; i++)
        (void)core_loop(r->node.core[i]);
}

/* ---- packets ---- */

/* A packet that may arrive by `input` and has a path, in *m. */
static struct hx_desc packet_for(const struct rings *r, struct rte_mbuf *m, unsigned input, unsigned vc, unsigned bytes)
{
    const struct hx_header h = nodes_header(&r->node.core[0]->sw.route, input, vc, bytes);
    if (!m)
        rte_panic("no frame\n");
    hx_frame_encode((uint8_t *)rte_pktmbuf_append(m, (uint16_t)bytes), &h);
    struct hx_desc d = {.length = h.length, .vc = h.vc, .dst_addr_hi = h.dst_addr_hi, .dst_addr_lo = h.dst_addr_lo};
    dpdk_set_mbuf(&d, m);
    return d;
}

/* Sends as if the switch had selected the port at the other end. */
static void fill_cables(struct rings *r, unsigned bytes, unsigned frames)
{
    for (unsigned port = 0; port < NODES_PORTS; port++) {
        for (unsigned i = 0; i < frames * HX_MESH_VCS; i++) {
            struct hx_desc d =
                packet_for(r, rte_pktmbuf_alloc(node_pool(&r->node, port)), opposite[port], i % HX_MESH_VCS, bytes);
            dpdk_stage(&r->node.port[port], &d);
        }
    }
}

/* ---- life ---- */

struct rings *rings_open(unsigned place, unsigned bytes, unsigned frames, const char *lcores)
{
    struct rings *r = calloc(1, sizeof *r);
    if (!r)
        rte_panic("no memory\n");
    lay_cables(r, place);
    configure(r, place, lcores);
    node_open(&r->node, &r->config);
    (void)node_watch_links(&r->node);
    while (atomic_load(&r->node.up) != atomic_load(&r->node.carrier)) {
        loop_all(r);
        (void)node_watch_links(&r->node);
    }
    for (unsigned loop = 0; loop < 1000; loop++)
        loop_all(r);
    fill_cables(r, bytes, frames);
    return r;
}

/* The port receives from its own pool, with frames valid at this input. */
static void receive_from_pool(struct rings *r, unsigned port)
{
    static struct rte_mbuf *all[NULL_POOL];
    uint16_t device = r->node.port[port].device;
    unsigned n = 0;
    r->pool[port] = rte_pktmbuf_pool_create(r->name[port], NULL_POOL, 256, 0, 8576, 0);
    if (!r->pool[port] || rte_eth_dev_stop(device) != 0 ||
        rte_eth_rx_queue_setup(device, 0, 32, 0, NULL, r->pool[port]) != 0 || rte_eth_dev_start(device) != 0)
        rte_panic("%s has no pool\n", r->name[port]);
    for (; n < NULL_POOL && (all[n] = rte_pktmbuf_alloc(r->pool[port])); n++)
        (void)packet_for(r, all[n], port, n % HX_MESH_VCS, HX_HEADER_BYTES);
    rte_pktmbuf_free_bulk(all, n);
}

struct rings *rings_open_null(unsigned place, const char *lcores)
{
    struct rings *r = calloc(1, sizeof *r);
    if (!r)
        rte_panic("no memory\n");
    r->grants = true;
    for (unsigned port = 0; port < NODES_PORTS; port++) {
        (void)snprintf(r->name[port], sizeof r->name[port], "net_null%u%u", place, port);
        if (rte_eal_hotplug_add("vdev", r->name[port], "size=64") != 0)
            rte_panic("%s cannot be opened\n", r->name[port]);
    }
    configure(r, place, lcores);
    node_open(&r->node, &r->config);
    nodes_bring_up(&r->node); /* frames need its routes; received frames do not matter */
    for (unsigned port = 0; port < NODES_PORTS; port++) {
        receive_from_pool(r, port);
        nodes_greet(&r->node.port[port]);
    }
    return r;
}

void rings_close(struct rings *r)
{
    for (unsigned port = 0; port < NODES_PORTS; port++) {
        void *frame;
        struct rte_ring *ring = rte_ring_lookup(r->name[port]);
        while (ring && rte_ring_dequeue(ring, &frame) == 0)
            rte_pktmbuf_free(frame);
    }
    node_close(&r->node);
    buffers_close(&r->node.buffers);
    for (unsigned port = 0; r->grants && port < NODES_PORTS; port++)
        rte_mempool_free(r->pool[port]);
    for (unsigned port = 0; port < NODES_PORTS; port++)
        rte_ring_free(rte_ring_lookup(r->name[port]));
    node_config_free(&r->config);
    free(r);
}

/* ---- trials ---- */

struct trial rings_run(struct rings *r, unsigned loops)
{
    uint64_t moved = node_moved(&r->node);
    uint64_t ns = measure_thread_ns();
    uint64_t ticks = rte_rdtsc();
    for (unsigned i = 0; i < loops; i++)
        (void)core_loop(r->node.core[0]);
    ticks = rte_rdtsc() - ticks;
    return (struct trial){node_moved(&r->node) - moved, measure_thread_ns() - ns, ticks};
}

static void loop_one(const struct rings *r, struct core *c)
{
    for (uint64_t left = r->grants ? c->hal.mine : 0; left; left &= left - 1)
        nodes_grant(&c->node->port[__builtin_ctzll(left)]);
    (void)core_loop(c);
}

struct other {
    struct rings *rings;
    struct core *core;
    double share; /* of its intended running time */
};

static double share_of(uint64_t ns, uint64_t ticks)
{
    return (double)ns * (double)rte_get_tsc_hz() / 1e9 / (double)ticks;
}

static int run_other(void *other)
{
    struct other *o = other;
    uint64_t ns = measure_thread_ns();
    uint64_t ticks = rte_rdtsc();
    while (!atomic_load_explicit(&o->rings->stop, memory_order_relaxed))
        loop_one(o->rings, o->core);
    o->share = share_of(measure_thread_ns() - ns, rte_rdtsc() - ticks);
    return 0;
}

struct trial rings_run_all(struct rings *r, unsigned microseconds)
{
    struct core *own = NULL;
    struct other other = {.rings = r, .share = 1};
    atomic_store(&r->stop, false);
    for (unsigned i = 0; i < r->node.cores; i++) {
        if (r->node.core[i]->lcore == rte_get_main_lcore())
            own = r->node.core[i];
        else
            other.core = r->node.core[i];
    }
    if (other.core && rte_eal_remote_launch(run_other, &other, other.core->lcore) != 0)
        rte_panic("no other lcore\n");
    uint64_t moved = node_moved(&r->node);
    uint64_t ns = measure_thread_ns();
    uint64_t start = rte_rdtsc();
    uint64_t end = start + rte_get_tsc_hz() / 1000000 * microseconds;
    while (own && rte_rdtsc() < end)
        loop_one(r, own);
    struct trial t = {.packets = node_moved(&r->node) - moved, .ticks = rte_rdtsc() - start};
    t.ns = measure_thread_ns() - ns;
    atomic_store(&r->stop, true);
    rte_eal_mp_wait_lcore();
    if (other.share < share_of(t.ns, t.ticks))
        t.ns = (uint64_t)(other.share * (double)t.ticks * 1e9 / (double)rte_get_tsc_hz());
    return t;
}
