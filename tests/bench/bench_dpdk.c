/* bench_dpdk.c - cycles a packet of the DPDK node on one lcore, four ports, all of it: receive, judge, credit, route,
 * transmit; and how that compares with dpdk-testpmd, which only swaps addresses.
 *
 * net_null hands out mbufs as they are. So the mbufs of each port's own pool hold frames that are true at this port, and
 * stay so: the node is inside its board, where no VC is raised. What a peer would grant is granted here by a few
 * stores a loop, which are part of what is measured. */
#include "dpdk-node/core.h"
#include "measure.h"
#include "testpmd.h"

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PORTS = 4, GX = 1, GY = 1, POOL = 2047 };

struct bench {
    struct node_config config;
    struct node node;
    struct core core;
    struct dpdk_port port[HX_ACCELERATOR_PORTS];
    struct rte_mempool *pool[PORTS];
    struct rte_mempool *credits; /* for credit frames: they must not come back as packets */
    uint64_t random;
};

static uint32_t next_random(struct bench *b, uint32_t below)
{
    b->random = b->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((b->random >> 33) % below);
}

/* A frame that may stand on this input. */
static void write_frame(struct bench *b, unsigned input, uint8_t *frame, unsigned bytes)
{
    const struct hx_geometry *g = &b->config.g;
    struct hx_header h = {.credit_vc = HX_NO_CREDIT,
                          .kind = HX_DATA,
                          .message_packets = 1,
                          .length = (uint16_t)(bytes - HX_HEADER_BYTES),
                          .epoch = 1};
    uint64_t ports = 0;
    while (ports == 0 || ports >> HX_LOCAL & 1) {
        h.dst_gx = (uint16_t)next_random(b, g->columns);
        h.dst_gy = (uint16_t)next_random(b, g->rows);
        ports = hx_route_ports(&b->core.sw.route, input, h.dst_gx, h.dst_gy);
    }
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

/* A link has the default buffer, or, where packets are full, what a burst of them to one output needs. */
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
                                            .blocks = blocks,
                                            .peer_blocks = blocks,
                                            .credit_period = rte_get_tsc_hz() / 10000,
                                            .pool = b->credits,
                                            .drops = b->core.drops};
    dpdk_port_init(&b->port[port], &config, 1, rte_zmalloc(NULL, dpdk_port_bytes(blocks, blocks), 64));
    b->port[port].link.open = true;
}

static void close_null(struct bench *b, unsigned port)
{
    char name[32];
    (void)snprintf(name, sizeof name, "net_null%u", port);
    (void)rte_eth_dev_stop(b->port[port].device);
    (void)rte_eal_hotplug_remove("vdev", name);
    rte_free(b->port[port].slots[0]);
}

static void build(struct bench *b)
{
    struct core *c = &b->core;
    (void)hx_geometry_init(&b->config.g, 4, 4, 4, 4, 1, HX_DEFAULT_RADIX, 1);
    b->config.node = hx_accelerator(&b->config.g, GX, GY);
    b->config.ports = HX_ACCELERATOR_PORTS;
    b->node = (struct node){.config = &b->config, .port = b->port, .cores = 1, .up = 15};
    c->node = &b->node;
    c->up_seen = 15;
    c->hal = (struct hal_switch){
        .port = b->port, .ports = HX_ACCELERATOR_PORTS, .mine = 15, .up = 15, .send = c->send, .drops = c->drops};
    c->tables = rte_zmalloc(NULL, hx_route_bytes(&b->config.g, b->config.node), 64);
    hx_switch_init(&c->sw, HX_ACCELERATOR_PORTS, 0, &c->hal,
                   rte_zmalloc(NULL, hx_switch_bytes(HX_ACCELERATOR_PORTS), 64));
    hx_route_build(&c->sw.route, &b->config.g, b->config.node, (struct hx_barred){NULL}, 15, c->tables);
}

static void grant_all(struct bench *b)
{
    for (unsigned port = 0; port < PORTS; port++) {
        struct hx_credit_sender *tx = b->port[port].link.tx;
        for (unsigned vc = 0; vc < HX_VCS; vc++)
            tx[vc].limit = tx[vc].sent + tx[vc].buffer;
    }
}

static double cycles_a_packet(struct bench *b, unsigned loops)
{
    uint64_t moved = b->core.moved;
    uint64_t start = rte_rdtsc();
    for (unsigned i = 0; i < loops; i++) {
        grant_all(b);
        (void)core_loop(&b->core);
    }
    return (double)(rte_rdtsc() - start) / (double)(b->core.moved - moved);
}

static struct measured measure_null(struct bench *b, unsigned bytes)
{
    double samples[MEASURE_RUNS];
    for (unsigned port = 0; port < PORTS; port++)
        open_null(b, port, bytes);
    build(b);
    for (unsigned port = 0; port < PORTS; port++)
        fill_pool(b, port, bytes);
    (void)cycles_a_packet(b, 1000);
    for (unsigned run = 0; run < MEASURE_RUNS; run++)
        samples[run] = cycles_a_packet(b, 20000);
    for (unsigned port = 0; port < PORTS; port++)
        close_null(b, port);
    return measure_summary(samples, MEASURE_RUNS);
}

/* ---- against dpdk-testpmd ---- */

/* Cycles a packet of a testpmd mode; .median 0: it is not there. */
static struct measured measure_testpmd(const char *mode, unsigned bytes)
{
    double samples[3] = {0};
    for (unsigned run = 0; run < 3; run++) {
        double rate = testpmd_rate(mode, bytes);
        if (rate <= 0)
            return (struct measured){0, 0, 0};
        samples[run] = measure_ticks_per_second() / rate;
    }
    return measure_summary(samples, 3);
}

static void compare(json_t *results, const char *mode, double node)
{
    char text[80];
    struct measured m = measure_testpmd(mode, 64);
    if (m.median <= 0) {
        printf("  dpdk-testpmd is not installed (package dpdk-dev): not compared\n");
        return;
    }
    (void)snprintf(text, sizeof text, "dpdk-testpmd %s, 64 B", mode);
    measure_print(text, m, "cycles a packet");
    (void)snprintf(text, sizeof text, "the node / testpmd %s", mode);
    printf("  %-44s %10.2f\n", text, node / m.median);
    (void)snprintf(text, sizeof text, "dpdk_testpmd_%s_cycles_per_packet", mode);
    (void)json_object_set_new(results, text, measure_json(m));
    (void)snprintf(text, sizeof text, "dpdk_testpmd_%s_ratio", mode);
    (void)json_object_set_new(results, text, json_real(node / m.median));
}

static void start_eal(void)
{
    static char folder[] = "/tmp/hxmesh-bench-XXXXXX";
    char *arguments[] = {"bench",       "--no-huge", "-m", "512",         "--no-pci", "--no-telemetry",
                         "--no-shconf", "-l",        "0",  "--log-level", "critical", NULL};
    if (!mkdtemp(folder) || setenv("XDG_RUNTIME_DIR", folder, 1) != 0 || rte_eal_init(11, arguments) < 0)
        rte_panic("EAL does not start\n");
    (void)rmdir(folder);
}

int main(int argc, char **argv)
{
    static struct bench b = {.random = 1};
    static const unsigned sizes[] = {64, 1518, 8192};
    json_t *results = json_object();
    json_t *by_size = json_object();
    start_eal();
    for (unsigned port = 0; port < PORTS; port++) {
        char name[16];
        (void)snprintf(name, sizeof name, "bench%u", port);
        b.pool[port] = rte_pktmbuf_pool_create(name, POOL, 256, 0, 8576, 0);
    }
    b.credits = rte_pktmbuf_pool_create("credits", 255, 0, 0, 256, 0);
    printf("DPDK node, four ports over net_null, one lcore, no huge pages (TSC cycles; median of %d, spread)\n",
           MEASURE_RUNS);
    double ticks = measure_ticks_per_second();
    double at_64 = 0;
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char text[64];
        struct measured m = measure_null(&b, sizes[i]);
        at_64 = i == 0 ? m.median : at_64;
        (void)snprintf(text, sizeof text, "%u B (%.1f M packets/s)", sizes[i], ticks / m.median / 1e6);
        measure_print(text, m, "cycles a packet");
        (void)snprintf(text, sizeof text, "%u", sizes[i]);
        (void)json_object_set_new(by_size, text, measure_json(m));
    }
    (void)json_object_set_new(results, "dpdk_cycles_per_packet", by_size);
    (void)json_object_set_new(results, "dpdk_packets_per_second", json_real(ticks / at_64));
    compare(results, "io", at_64);
    compare(results, "macswap", at_64);
    measure_finish(results, argc, argv);
    return 0;
}
