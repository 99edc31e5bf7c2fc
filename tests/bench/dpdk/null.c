/* null.c - a node over net_null (nodes.h).
 *
 * net_null hands out mbufs as they are. So the mbufs of each port's own pool hold frames that are valid at this
 * port, and stay so: the node is inside its board, without VC increments. A few stores a loop grant what a peer
 * would grant, and are part of the measurement. */
#include "nodes/dpdk/core.h"
#include "tests/bench/dpdk/nodes.h"
#include "tests/bench/measure.h"

#include <rte_cycles.h>
#include <rte_malloc.h>
#include <stdio.h>
#include <stdlib.h>

enum { GX = 1, GY = 1, POOL = 2047 };

/* ---- the node ---- */

struct bench {
    struct node_config config;
    struct node node;
    struct core core;
    struct dpdk_port port[HX_ACCELERATOR_PORTS];
    struct rte_mempool *pool[NODES_PORTS];
    struct rte_mempool *credits; /* for credit frames, which must not return as packets */
};

/* A frame that may arrive by this input. */
static void write_frame(struct bench *b, unsigned input, uint8_t *frame, unsigned bytes)
{
    const struct hx_header h = nodes_header(&b->core.sw.route, input, 0, bytes);
    hx_frame_encode(frame, &h);
}

static void fill_pool(struct bench *b, unsigned input, unsigned bytes)
{
    static struct rte_mbuf *all[POOL];
    unsigned n = 0;
    for (; n < POOL && (all[n] = rte_pktmbuf_alloc(b->pool[input])); n++)
        write_frame(b, input, rte_pktmbuf_mtod(all[n], uint8_t *), bytes);
    rte_pktmbuf_free_bulk(all, n);
}

/* A link has the default buffer; with full packets, enough for a burst of them to one output. */
static void open_null(struct bench *b, unsigned port, unsigned bytes)
{
    const uint32_t blocks = bytes > 2048 ? 4096 : HX_DEFAULT_CREDITS;
    char name[32];
    char arguments[32];
    uint16_t device;
    struct rte_eth_conf conf = {0};
    (void)snprintf(name, sizeof name, "net_null%u", port);
    (void)snprintf(arguments, sizeof arguments, "size=%u", bytes);
    if (rte_eal_hotplug_add("vdev", name, arguments) != 0 || rte_eth_dev_get_port_by_name(name, &device) != 0 ||
        rte_eth_dev_configure(device, 1, 1, &conf) != 0 ||
        rte_eth_rx_queue_setup(device, 0, 512, 0, NULL, b->pool[port]) != 0 ||
        rte_eth_tx_queue_setup(device, 0, 512, 0, NULL) != 0 || rte_eth_dev_start(device) != 0)
        rte_panic("%s cannot be opened\n", name);
    const struct dpdk_port_config config = {.device = device,
                                            .vcs = HX_MESH_VCS,
                                            .blocks = blocks,
                                            .peer_blocks = blocks,
                                            .credit_period = rte_get_tsc_hz() / 10000,
                                            .pool = b->credits,
                                            .drops = b->core.drops};
    dpdk_port_init(&b->port[port], &config, rte_zmalloc(NULL, dpdk_port_bytes(HX_MESH_VCS, blocks, blocks), 64));
    nodes_greet(&b->port[port]);
}

static void close_null(struct bench *b, unsigned port)
{
    char name[32];
    (void)snprintf(name, sizeof name, "net_null%u", port);
    (void)rte_eth_dev_stop(b->port[port].device);
    (void)rte_eal_hotplug_remove("vdev", name);
    rte_free(b->port[port].arrivals.slots[0]);
}

static void build(struct bench *b)
{
    struct core *c = &b->core;
    c->config = &b->config;
    (void)hx_geometry_init(&b->config.g, 4, 4, 4, 4, 1, HX_DEFAULT_RADIX, 1);
    b->config.node = hx_accelerator(&b->config.g, GX, GY);
    b->config.ports = HX_ACCELERATOR_PORTS;
    b->node = (struct node){.config = &b->config, .port = b->port, .cores = 1, .carrier = 15, .up = 15};
    c->node = &b->node;
    c->carrier = 15;
    c->looked_at = INT64_MAX;             /* these peers are silent */
    c->around.notices = &b->node.notices; /* which never change */
    c->hal = (struct hal_switch){.port = b->port,
                                 .ports = HX_ACCELERATOR_PORTS,
                                 .mine = 15,
                                 .up = 15,
                                 .send = c->send,
                                 .drops = c->drops,
                                 .stalls = c->stalls};
    c->tables = rte_zmalloc(NULL, hx_route_bytes(&b->config.g, b->config.node), 64);
    hx_switch_init(&c->sw, HX_ACCELERATOR_PORTS, HX_MESH_VCS, 0, &c->hal,
                   rte_zmalloc(NULL, hx_switch_bytes(HX_ACCELERATOR_PORTS, HX_MESH_VCS), 64));
    hx_route_build(&c->sw.route, &b->config.g, b->config.node, (struct hx_blocked_boards){NULL}, 15, c->tables);
}

static struct bench bench;

static void make_pools(struct bench *b)
{
    for (unsigned port = 0; port < NODES_PORTS && !b->credits; port++) {
        char name[16];
        (void)snprintf(name, sizeof name, "null%u", port);
        b->pool[port] = rte_pktmbuf_pool_create(name, POOL, 256, 0, 8576, 0);
        if (!b->pool[port])
            rte_panic("no memory for frames\n");
    }
    if (!b->credits)
        b->credits = rte_pktmbuf_pool_create("null_credits", 255, 32, 0, 256, 0);
}

void null_open(unsigned bytes)
{
    make_pools(&bench);
    for (unsigned port = 0; port < NODES_PORTS; port++)
        open_null(&bench, port, bytes);
    build(&bench);
    for (unsigned port = 0; port < NODES_PORTS; port++)
        fill_pool(&bench, port, bytes);
}

struct trial null_run(unsigned loops)
{
    uint64_t moved = bench.core.moved;
    uint64_t ns = measure_thread_ns();
    uint64_t ticks = rte_rdtsc();
    for (unsigned i = 0; i < loops; i++) {
        for (unsigned port = 0; port < NODES_PORTS; port++)
            nodes_grant(&bench.port[port]);
        (void)core_loop(&bench.core);
    }
    ticks = rte_rdtsc() - ticks;
    return (struct trial){bench.core.moved - moved, measure_thread_ns() - ns, ticks};
}

void null_close(void)
{
    for (unsigned port = 0; port < NODES_PORTS; port++)
        close_null(&bench, port);
    rte_free(bench.core.tables);
    rte_free(bench.core.sw.input);
}
