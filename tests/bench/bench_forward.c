/* bench_forward.c - cycles a packet of the forwarding function on one core, all stages, over the shared-memory port.
 *
 * One accelerator's switch of a 4x4 Hx2Mesh, four ports busy in both directions, packets for all destinations that the
 * route allows from each input. This program plays the neighbours: it publishes a burst on each input, steps the
 * switch, and consumes the output. The neighbours' cost is measured alone and subtracted.
 *
 * A stage's cost is the difference between passes over the same packets that do one thing more each: read the
 * descriptors (receive), route them, select an output, take the credit; the rest is transmit, release and commit.
 * The stages are internal to switch.c, which is therefore included. */
#include "firmware/switch.c" // NOLINT(bugprone-suspicious-include)
#include "measure.h"
#include "tests/bench/testpmd.h"

#include "clock.h"
#include "tests/support/support_random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 64, PORTS = 4, ROUNDS = 3000, GX = 3, GY = 3 };

struct bench {
    struct hx_geometry g;
    uint8_t *arena;
    struct shm_worker worker;
    struct shm_tx tx[HX_ACCELERATOR_PORTS];
    struct shm_rx rx[HX_ACCELERATOR_PORTS];
    uint64_t drops[HX_DROP_COUNT];
    uint64_t stalls[HX_STALL_COUNT];
    struct hal_switch hal;
    struct hx_switch sw;
    uint64_t random;
};

static void set_up(struct bench *b)
{
    const size_t link = (shm_link_bytes(HX_MESH_VCS, SLOTS) + 63) & ~(size_t)63;
    size_t bytes = 65536 + (size_t)(2 * HX_ACCELERATOR_PORTS) * link;
    (void)hx_geometry_init(&b->g, 2, 2, 4, 4, 1, HX_DEFAULT_RADIX, 1);
    b->arena = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    memset(b->arena, 0, bytes);
    b->worker =
        (struct shm_worker){.step = {b->arena, (struct shm_redo *)(void *)b->arena, 0}, .workers = 1, .per_home = 1024};
    for (unsigned port = 0; port < HX_ACCELERATOR_PORTS; port++) {
        b->tx[port].link = (struct shm_link *)(void *)(b->arena + 65536 + (size_t)2 * port * link);
        b->rx[port].ahead = shm_link_slots(HX_MESH_VCS, SLOTS);
        b->rx[port].link = (struct shm_link *)(void *)(b->arena + 65536 + ((size_t)2 * port + 1) * link);
    }
    b->hal = (struct hal_switch){.worker = &b->worker,
                                 .ports = HX_ACCELERATOR_PORTS,
                                 .size = SLOTS,
                                 .slots = shm_link_slots(HX_MESH_VCS, SLOTS),
                                 .brings = 31,
                                 .up = 31,
                                 .drops = b->drops,
                                 .stalls = b->stalls,
                                 .tx = b->tx,
                                 .rx = b->rx};
    uint32_t node = hx_accelerator(&b->g, GX, GY);
    const size_t window = (hx_switch_bytes(HX_ACCELERATOR_PORTS, HX_MESH_VCS) + 63) & ~(size_t)63;
    void *memory = aligned_alloc(64, window);
    memset(memory, 0, window);
    hx_switch_init(&b->sw, HX_ACCELERATOR_PORTS, HX_MESH_VCS, 0, &b->hal, memory);
    hx_route_build(&b->sw.route, &b->g, node, (struct hx_blocked_boards){NULL}, 31,
                   malloc(hx_route_bytes(&b->g, node)));
}

/* A packet that may arrive on this input and VC, and needs no fourth VC. */
static struct hx_desc packet_for(struct bench *b, unsigned input, unsigned vc, uint16_t length)
{
    for (;;) {
        uint16_t gx = (uint16_t)seeded_below(&b->random, b->g.columns);
        uint16_t gy = (uint16_t)seeded_below(&b->random, b->g.rows);
        uint64_t ports = hx_mesh_ports(&b->sw.route, input, gx, gy);
        if (ports && (vc < HX_MESH_VCS - 1 || !(ports & b->sw.route.incrementing)))
            return (struct hx_desc){.length = length, .vc = (uint8_t)vc, .dst_addr_hi = gx, .dst_addr_lo = gy};
    }
}

static void fill_rings(struct bench *b, unsigned vc, uint16_t length)
{
    for (unsigned input = 0; input < PORTS; input++) {
        struct shm_link *link = b->rx[input].link;
        for (unsigned slot = 0; slot < SLOTS; slot++)
            link->slots[vc * SLOTS + slot] = packet_for(b, input, vc, length);
    }
}

static void publish(struct bench *b, unsigned vc, unsigned burst)
{
    for (unsigned input = 0; input < PORTS; input++) {
        volatile uint64_t *heads = &b->rx[input].link->heads;
        *heads = hx_lane_add(*heads, vc, burst);
    }
}

static void consume(struct bench *b)
{
    for (unsigned port = 0; port < HX_ACCELERATOR_PORTS; port++) {
        volatile uint64_t *tails = &b->tx[port].link->tails;
        *tails = *(volatile uint64_t *)&b->tx[port].link->heads;
    }
}

/* Cycles a packet of ROUNDS rings full of packets; `forward` false: only the neighbours' part. */
static double forward_cycles(struct bench *b, unsigned burst, uint16_t length, bool forwards)
{
    uint64_t ticks = 0;
    uint64_t packets = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        unsigned vc = round % HX_MESH_VCS;
        fill_rings(b, vc, length);
        uint64_t start = shm_clock_ticks();
        for (unsigned sent = 0; sent < SLOTS; sent += burst) {
            publish(b, vc, burst);
            if (forwards)
                (void)hx_accelerator_step(&b->sw);
            consume(b);
        }
        ticks += shm_clock_ticks() - start;
        packets += (uint64_t)PORTS * SLOTS;
        for (unsigned input = 0; !forwards && input < PORTS; input++) {
            b->rx[input].link->tails = b->rx[input].link->heads;
            b->rx[input].tail = b->rx[input].seen = b->rx[input].link->heads;
            b->sw.input[input].seen = b->sw.input[input].tail = b->rx[input].tail;
        }
        while (hx_switch_waiting(&b->sw)) {
            (void)hx_accelerator_step(&b->sw);
            consume(b);
        }
    }
    return (double)ticks / (double)packets;
}

/* Each pass adds a stage to the previous one. */
enum pass { RECEIVE, ROUTE, SELECT, CREDIT, PASSES };

ALWAYS_INLINE uint64_t pass_over(struct bench *b, enum pass pass, unsigned vc, uint64_t full)
{
    uint64_t sum = 0;
    struct burst burst = {.lanes = full, .local = HX_MAX_ROOM};
    for (unsigned input = 0; input < PORTS; input++) {
        for (unsigned position = 0; position < SLOTS; position++) {
            const struct hx_desc *d = hal_arrival(&b->hal, input, vc, (uint16_t)position);
            sum += d->job;
            if (pass == RECEIVE) {
                sum += d->dst_addr_hi + d->dst_addr_lo;
                continue;
            }
            uint64_t ports = candidate_ports_on(&b->sw, input, vc, heading_of(d), UINT64_MAX, hx_mesh_ports, true);
            if (pass == ROUTE || ports & LOCAL_BIT) {
                sum += ports;
                continue;
            }
            unsigned port = select_accelerator(&b->sw, burst.lanes, ports, hal_packet_credits(d));
            sum += port;
            if (pass == CREDIT && port != NO_PORT)
                spend(&burst, port, hal_packet_credits(d), true);
        }
    }
    return sum;
}

static double pass_cycles(struct bench *b, enum pass pass)
{
    const uint64_t full = ((uint64_t)SLOTS * PORTS * 4 * HX_LANE_ONES) << 2;
    volatile uint64_t sink = 0;
    uint64_t ticks = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        fill_rings(b, 0, HX_MAX_PAYLOAD);
        uint64_t start = shm_clock_ticks();
        switch (pass) {
        case RECEIVE:
            sink += pass_over(b, RECEIVE, 0, full);
            break;
        case ROUTE:
            sink += pass_over(b, ROUTE, 0, full);
            break;
        case SELECT:
            sink += pass_over(b, SELECT, 0, full);
            break;
        default:
            sink += pass_over(b, CREDIT, 0, full);
        }
        ticks += shm_clock_ticks() - start;
    }
    return (double)ticks / ((double)ROUNDS * PORTS * SLOTS);
}

static struct measured measure_forward(struct bench *b, unsigned burst, uint16_t length)
{
    double samples[MEASURE_RUNS];
    for (unsigned run = 0; run < MEASURE_RUNS; run++)
        samples[run] = forward_cycles(b, burst, length, true) - forward_cycles(b, burst, length, false);
    return measure_summary(samples, MEASURE_RUNS);
}

static json_t *measure_bursts(struct bench *b)
{
    static const unsigned bursts[] = {1, 2, 4, 8, 16, 32};
    json_t *all = json_object();
    for (unsigned i = 0; i < sizeof bursts / sizeof *bursts; i++) {
        char name[64];
        struct measured m = measure_forward(b, bursts[i], HX_MAX_PAYLOAD);
        (void)snprintf(name, sizeof name, "forward, bursts of %u on each port", bursts[i]);
        measure_print(name, m, "cycles a packet");
        (void)snprintf(name, sizeof name, "burst%u", bursts[i]);
        (void)json_object_set_new(all, name, measure_json(m));
    }
    return all;
}

static json_t *measure_sizes(struct bench *b)
{
    static const uint16_t sizes[] = {64, 512, 1518, 8192};
    json_t *all = json_object();
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char name[64];
        struct measured m = measure_forward(b, 32, sizes[i]);
        (void)snprintf(name, sizeof name, "forward, bursts of 32, %u B of payload", sizes[i]);
        measure_print(name, m, "cycles a packet");
        (void)snprintf(name, sizeof name, "%u", sizes[i]);
        (void)json_object_set_new(all, name, measure_json(m));
    }
    return all;
}

static json_t *measure_stages(struct bench *b, double whole)
{
    static const char *const names[] = {"receive", "route", "select", "credit"};
    json_t *all = json_object();
    double before = 0;
    for (unsigned stage = RECEIVE; stage < PASSES; stage++) {
        double samples[MEASURE_RUNS];
        for (unsigned run = 0; run < MEASURE_RUNS; run++)
            samples[run] = pass_cycles(b, stage);
        struct measured m = measure_summary(samples, MEASURE_RUNS);
        printf("    %-42s %10.2f   cycles a packet\n", names[stage], m.median - before);
        (void)json_object_set_new(all, names[stage], json_real(m.median - before));
        before = m.median;
    }
    printf("    %-42s %10.2f   cycles a packet\n", "transmit, release, commit", whole - before);
    (void)json_object_set_new(all, "transmit", json_real(whole - before));
    return all;
}

/* ---- dpdk-testpmd, where it is installed ---- */

static void measure_testpmd(json_t *results, double whole)
{
    double samples[3];
    double ticks = measure_ticks_per_second();
    for (unsigned run = 0; run < 3; run++) {
        double rate = testpmd_rate("macswap");
        if (rate <= 0) {
            printf("  dpdk-testpmd is not installed (package dpdk-dev): not compared\n");
            return;
        }
        samples[run] = ticks / rate;
    }
    struct measured m = measure_summary(samples, 3);
    measure_print("dpdk-testpmd macswap, net_null, no huge pages", m, "cycles a packet");
    printf("  %-44s %10.2f\n", "forward (bursts of 32) / testpmd macswap", whole / m.median);
    (void)json_object_set_new(results, "testpmd_macswap_cycles_per_packet", measure_json(m));
    (void)json_object_set_new(results, "forward_to_testpmd_ratio", json_real(whole / m.median));
}

int main(int argc, char **argv)
{
    static struct bench b = {.random = 1};
    set_up(&b);
    json_t *results = json_object();
    printf(
        "forwarding function, one accelerator's switch, four ports busy, one core (TSC cycles; median of %d, spread)\n",
        MEASURE_RUNS);
    json_t *bursts = measure_bursts(&b);
    double whole = json_real_value(json_object_get(json_object_get(bursts, "burst32"), "median"));
    (void)json_object_set_new(results, "forward_cycles_per_packet", bursts);
    (void)json_object_set_new(results, "forward_cycles_by_payload_bytes", measure_sizes(&b));
    printf("  of bursts of 32, by stage\n");
    (void)json_object_set_new(results, "forward_stage_cycles", measure_stages(&b, whole));
    measure_testpmd(results, whole);
    measure_finish(results, argc, argv);
    return 0;
}
