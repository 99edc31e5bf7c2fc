/* bench_dpdk.c - cycles a packet of the DPDK node on one lcore with four ports, all stages: receive, validate, credit,
 * route, select, transmit. Over net_null, which takes an mbuf from a pool and returns it for every packet, and over
 * net_ring, which only passes mbufs. In turn with dpdk-testpmd, which forwards (io) or swaps addresses (macswap). Then
 * two lcores against one, and the latency at half load.
 *
 * Times are processor time in ticks of the counter, medians of many short trials, so other load on the machine
 * changes them little. */
#include "tests/bench/dpdk/nodes.h"
#include "tests/bench/measure.h"
#include "tests/bench/testpmd.h"

#include <rte_debug.h>
#include <stdio.h>

/* About a burst a cable. More full packets, which take 32 of the 1,024 blocks of a VC, would wait for each other. */
enum { IN_FLIGHT = 11 };

enum { TRIALS = 41, LOOPS = 400, TESTPMD_TRIALS = 9, TESTPMD_MS = 30, TWO_US = 1000, ATTEMPTS = 50 };

static double ticks_per_ns;

/* A node that moves nothing is set up wrongly. */
static double cycles(struct trial t)
{
    if (t.packets == 0)
        rte_panic("the node moved no packet\n");
    return (double)t.ns * ticks_per_ns / (double)t.packets;
}

/* ---- the node, by driver and size ---- */

struct driver {
    const char *name;
    void (*open)(unsigned bytes);
    struct trial (*run)(unsigned loops);
    void (*close)(void);
};

static struct rings *one;

static void open_one(unsigned bytes)
{
    one = rings_open(1, bytes, IN_FLIGHT, "E=0,W=0,N=0,S=0");
}

static struct trial run_one(unsigned loops)
{
    return rings_run(one, loops);
}

static void close_one(void)
{
    rings_close(one);
}

static struct measured measure_node(const struct driver *d, unsigned trials)
{
    double samples[TRIALS];
    (void)d->run(LOOPS);
    for (unsigned i = 0; i < trials; i++)
        samples[i] = cycles(d->run(LOOPS));
    return measure_summary(samples, trials);
}

static void put(json_t *o, const char *key, struct measured m)
{
    (void)json_object_set_new(o, key, measure_json(m));
}

static json_t *measure_sizes(const struct driver *d, double *at_64)
{
    static const unsigned sizes[] = {64, 1518, 8192};
    json_t *by_size = json_object();
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char text[64];
        d->open(sizes[i]);
        struct measured m = measure_node(d, TRIALS);
        d->close();
        double in_second = ticks_per_ns * 1e9 / m.median;
        (void)snprintf(text, sizeof text, "%s, %u B (%.1f M packets/s)", d->name, sizes[i], in_second / 1e6);
        measure_print(text, m, "cycles a packet");
        json_t *o = measure_json(m);
        (void)json_object_set_new(o, "packets_per_second", json_real(in_second));
        (void)snprintf(text, sizeof text, "%u", sizes[i]);
        (void)json_object_set_new(by_size, text, o);
        *at_64 = i == 0 ? m.median : *at_64;
    }
    return by_size;
}

/* ---- against dpdk-testpmd ---- */

/* Runs the node and both modes in turn; the ratio is that of neighbours in time. Returns the node's cycles. */
static json_t *compare(const struct driver *d, const char *buffers, const char *options, double *macswap_ratio)
{
    static const char *const modes[2] = {"io", "macswap"};
    double samples[2][TESTPMD_TRIALS];
    double ratios[2][TESTPMD_TRIALS];
    struct testpmd *t = testpmd_open(d->name, options);
    d->open(64);
    bool runs = t != NULL;
    for (unsigned i = 0; runs && i < TESTPMD_TRIALS; i++) {
        double node = measure_node(d, TRIALS / 2).median;
        for (unsigned mode = 0; mode < 2; mode++) {
            samples[mode][i] = testpmd_run(t, modes[mode], TESTPMD_MS) * ticks_per_ns;
            runs = runs && samples[mode][i] > 0;
            ratios[mode][i] = runs ? node / samples[mode][i] : 0;
        }
    }
    d->close();
    testpmd_close(t);
    if (!runs) {
        printf("  dpdk-testpmd is not installed (package dpdk-dev) or failed: not compared\n");
        return NULL;
    }
    json_t *o = json_object();
    for (unsigned mode = 0; mode < 2; mode++) {
        char text[96];
        (void)snprintf(text, sizeof text, "dpdk-testpmd %s, %s", modes[mode], buffers);
        measure_print(text, measure_summary(samples[mode], TESTPMD_TRIALS), "cycles a packet");
        put(o, modes[mode], measure_summary(samples[mode], TESTPMD_TRIALS));
        struct measured ratio = measure_summary(ratios[mode], TESTPMD_TRIALS);
        (void)snprintf(text, sizeof text, "the node / testpmd %s", modes[mode]);
        measure_print(text, ratio, "");
        (void)snprintf(text, sizeof text, "%s_ratio", modes[mode]);
        put(o, text, ratio);
        *macswap_ratio = ratio.median;
    }
    return o;
}

/* testpmd with its default buffers of 2,176 bytes; and with buffers as large as the node's, each on its own pages,
 * which suits the cache better, and testpmd more than the node. */
static json_t *measure_driver(const struct driver *d, double *at_64, double *macswap_ratio)
{
    double other;
    json_t *o = json_object();
    (void)json_object_set_new(o, "cycles_per_packet", measure_sizes(d, at_64));
    json_t *own = compare(d, "as it comes", "", macswap_ratio);
    json_t *same = own ? compare(d, "buffers as ours", "--mbuf-size=8704", &other) : NULL;
    if (own)
        (void)json_object_set_new(o, "testpmd", own);
    if (same)
        (void)json_object_set_new(o, "testpmd_same_buffers", same);
    return o;
}

/* ---- two lcores ---- */

/* Million packets a second of a trial without preemption of any lcore; after many preempted trials, of the last one. */
static double undisturbed_rate(struct rings *r)
{
    struct trial t = {.packets = 0};
    for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++) {
        t = rings_run_all(r, TWO_US);
        if ((double)t.ns * ticks_per_ns > 0.97 * (double)t.ticks)
            break;
    }
    if (t.packets == 0)
        rte_panic("the node moved no packet\n");
    return (double)t.packets * ticks_per_ns * 1e3 / (double)t.ticks;
}

static void measure_two(json_t *results)
{
    double single[TRIALS];
    double both[TRIALS];
    double gain[TRIALS];
    struct rings *alone = rings_open_null(1, "E=0,W=0,N=0,S=0");
    struct rings *two = rings_open_null(2, "E=0,W=0,N=1,S=1");
    (void)rings_run_all(alone, TWO_US);
    (void)rings_run_all(two, TWO_US);
    for (unsigned i = 0; i < TRIALS; i++) {
        single[i] = undisturbed_rate(alone);
        both[i] = undisturbed_rate(two);
        gain[i] = both[i] / single[i];
    }
    rings_close(two);
    rings_close(alone);
    json_t *o = json_object();
    struct measured m = measure_summary(single, TRIALS);
    measure_print("net_null, 64 B, one lcore", m, "M packets/s");
    put(o, "one_lcore_million_packets_per_second", m);
    m = measure_summary(both, TRIALS);
    measure_print("net_null, 64 B, two lcores", m, "M packets/s");
    put(o, "two_lcores_million_packets_per_second", m);
    m = measure_summary(gain, TRIALS);
    measure_print("two lcores / one", m, "");
    put(o, "ratio", m);
    (void)json_object_set_new(results, "dpdk_two_lcores", o);
    (void)json_object_set_new(results, "dpdk_two_lcores_ratio", json_real(m.median));
}

/* ---- latency ---- */

static void measure_latency(json_t *results, double cycles_per_packet)
{
    struct latency l = latency_measure(2 * cycles_per_packet);
    printf("  latency at half load (%.1f M packets/s): p50 %.0f, p99 %.0f, p99.9 %.0f, most %.0f ns\n",
           ticks_per_ns * 1e3 / 2 / cycles_per_packet, l.p50, l.p99, l.p999, l.most);
    (void)json_object_set_new(results, "dpdk_latency_ns",
                              json_pack("{s:f, s:f, s:f, s:f, s:f, s:i, s:i}", "load", 0.5, "p50", l.p50, "p99", l.p99,
                                        "p999", l.p999, "max", l.most, "packets", (int)LATENCY_PACKETS,
                                        "interrupted_loops", (int)l.interrupted));
}

int main(int argc, char **argv)
{
    static const struct driver null = {"net_null", null_open, null_run, null_close};
    static const struct driver ring = {"net_ring", open_one, run_one, close_one};
    json_t *results = json_object();
    double null_cycles = 0;
    double ring_cycles = 0;
    double null_ratio = 0;
    double ring_ratio = 0;
    bool two_cores;
    nodes_start_eal(&two_cores);
    ticks_per_ns = measure_ticks_per_second() / 1e9;
    printf("DPDK node, four ports, one lcore, no huge pages (TSC cycles; median of %d trials, spread)\n", TRIALS);
    (void)json_object_set_new(results, "dpdk_net_null", measure_driver(&null, &null_cycles, &null_ratio));
    (void)json_object_set_new(results, "dpdk_net_ring", measure_driver(&ring, &ring_cycles, &ring_ratio));
    /* One number each: the node with credit from a true peer and no driver's work; and next to default macswap,
     * where both have the same driver's work. */
    (void)json_object_set_new(results, "dpdk_cycles_per_packet", json_real(ring_cycles));
    (void)json_object_set_new(results, "dpdk_packets_per_second", json_real(ticks_per_ns * 1e9 / ring_cycles));
    if (null_ratio > 0)
        (void)json_object_set_new(results, "dpdk_testpmd_macswap_ratio", json_real(null_ratio));
    if (two_cores)
        measure_two(results);
    else
        printf("  two lcores against one: not measured, this machine has one core\n");
    measure_latency(results, ring_cycles);
    measure_finish(results, argc, argv);
    return 0;
}
