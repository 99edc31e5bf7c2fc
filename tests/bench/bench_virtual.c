/* bench_virtual.c - packet-hops a second and core under the virtual clock, through the program as a user runs it. One
 * worker next to CNSim's rate, and to the time of a load from as much memory as the run has, which bounds fabrics
 * beyond the caches; several workers next to one, and next to two runs side by side.
 *
 * Rates are of processor time, waiting included, so other load on the machine changes them little. */
#include "base/processor.h"
#include "measure.h"
#include "workload/random.h"

#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { RUNS = 5, LOADS = 1 << 21, LINE = 64, HUGE = 2 << 20, LEAST_MEMORY = 256 << 20 };

/* ---- one worker ---- */

/* A run of CNSim, a cycle-accurate simulator of networks: million packet-hops a second of processor time. */
struct peer {
    double million;
    const char *what;
};

/* CNSim 4aa5985, -O3 -march=native, one thread, without its set-up and warm-up; best of three on an Intel Xeon at 2.1
 * GHz, 2026-11-28. Packets of 32 flits, so a flit is one of our blocks; links of 5 cycles, switches of three stages,
 * three VCs with buffers of 4,096 flits. A hop is a link, those of hosts too; ours is a switch that sends the packet
 * on. It has no HammingMesh, no all-to-all in phases and no Slim Fly: each row has the fabric of most similar size, and
 * uniform messages in place of an all-to-all. */
static const struct peer cnsim_64 = {0.32, "torus 8x8, uniform at 50 %"};
static const struct peer cnsim_1024 = {0.097, "Dragonfly, 1,056 hosts, uniform at 50 %"};
static const struct peer cnsim_permutation = {0.35, "Dragonfly, 1,056 hosts, bit reversal at 20 %"};
static const struct peer cnsim_uniform = {0.45, "Dragonfly, 1,056 hosts, uniform at 10 %"};
static const struct peer cnsim_slim_fly = {0.070, "Dragonfly, 2,550 hosts, uniform at 50 %"};
static const struct peer cnsim_16384 = {0.093, "Dragonfly, 16,512 hosts, uniform at 10 %"};

struct fabric {
    const char *key, *options;
    const struct peer *cnsim;
};

static const struct fabric fabrics[] = {
    {"virtual_64", "'4x4 Hx2Mesh' -m 1MiB", &cnsim_64},
    {"virtual_1024", "'16x16 Hx2Mesh' -m 256KiB --shifts 12", &cnsim_1024},
    {"virtual_1024_small_messages", "'16x16 Hx2Mesh' -m 8KiB --shifts 120", &cnsim_1024},
    {"virtual_1024_permutation", "'16x16 Hx2Mesh' -t permutation -m 2MiB", &cnsim_permutation},
    {"virtual_1024_uniform", "'16x16 Hx2Mesh' -t uniform --rate 0.1 -m 8KiB -n 0 -d 100us", &cnsim_uniform},
    {"virtual_slim_fly", "'slim-fly q=13 p=9' --shifts 6 -m 64KiB", &cnsim_slim_fly},
    {"virtual_16384", "'64x64 Hx2Mesh' --shifts 2 -m 64KiB", &cnsim_16384},
};

struct line {
    alignas(LINE) struct line *next;
};

/* All lines in one random circle: a load cannot start before the previous one has ended. */
static struct line *circle(struct line *line, uint32_t lines)
{
    for (uint32_t i = 0; i < lines; i++)
        line[i].next = &line[i];
    for (uint32_t i = lines - 1; i > 0; i--) {
        uint32_t other = random_below(random_of(1, i, 0), i);
        struct line *next = line[i].next;
        line[i].next = line[other].next;
        line[other].next = next;
    }
    return line;
}

/* Nanoseconds of a load from random places in so many bytes; in huge pages like a run's nodes, if the system has
 * them. */
static double load_ns(double bytes)
{
    size_t whole = ((size_t)bytes / HUGE + 1) * HUGE;
    uint32_t lines = (uint32_t)(whole / LINE);
    struct line *memory = aligned_alloc(HUGE, whole);
    if (!memory)
        return 0;
    (void)madvise(memory, whole, MADV_HUGEPAGE);
    const struct line *at = circle(memory, lines);
    uint64_t begin = measure_thread_ns();
    for (unsigned n = 0; n < LOADS; n++)
        at = at->next;
    double took = (double)(measure_thread_ns() - begin) / LOADS;
    bool seen = at != NULL; /* so that the loads happen */
    free(memory);
    return seen ? took : 0;
}

/* Million hops a second and core; 0: it failed. `more`: of an option, or "". */
static double million_hops_with(const char *fabric, unsigned workers, const char *more, double *bytes)
{
    char options[256];
    (void)snprintf(options, sizeof options, "%s --clock virtual -w %u%s", fabric, workers, more);
    json_t *report = measure_report(measure_run(options));
    double hops = measure_hops(report) / 1e6;
    if (bytes)
        *bytes = json_number_value(json_object_get(json_object_get(report, "host"), "peak_memory_bytes"));
    json_decref(report);
    return hops;
}

static double million_hops(const char *fabric, unsigned workers, double *bytes)
{
    return million_hops_with(fabric, workers, "", bytes);
}

static void keep(json_t *results, const char *key, const char *of, json_t *value)
{
    char name[96];
    (void)snprintf(name, sizeof name, "%s_%s", key, of);
    (void)json_object_set_new(results, name, value);
}

static void measure_one(json_t *results, const struct fabric *f)
{
    double samples[RUNS];
    double ns[RUNS];
    double loads[RUNS];
    for (unsigned i = 0; i < RUNS; i++) {
        double bytes;
        samples[i] = million_hops(f->options, 1, &bytes);
        ns[i] = load_ns(bytes);
        loads[i] = samples[i] > 0 && ns[i] > 0 ? 1e3 / samples[i] / ns[i] : 0;
    }
    printf("  %s\n", f->options);
    struct measured m = measure_summary(samples, RUNS);
    measure_print("", m, "M packet-hops/s and core");
    keep(results, f->key, "million_packet_hops_per_second_per_core", measure_json(m));
    printf("  %-44s %10.2f   (%s)  times as fast\n", "  CNSim", m.median / f->cnsim->million, f->cnsim->what);
    keep(results, f->key, "of_cnsim", json_real(m.median / f->cnsim->million));
    measure_print("  a load from as much memory", measure_summary(ns, RUNS), "ns");
    m = measure_summary(loads, RUNS);
    measure_print("  a hop takes as long as", m, "loads in as much memory");
    keep(results, f->key, "loads_per_packet_hop", measure_json(m));
}

/* The time of a load that no cache has: from twice as much memory as the largest cache, at least 256 MiB. */
static void measure_memory(json_t *results)
{
    long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
    double bytes = cache > LEAST_MEMORY / 2 ? 2.0 * (double)cache : LEAST_MEMORY;
    double ns[RUNS];
    for (unsigned i = 0; i < RUNS; i++)
        ns[i] = load_ns(bytes);
    struct measured m = measure_summary(ns, RUNS);
    measure_print("memory latency: a load beyond the caches", m, "ns");
    keep(results, "memory", "latency_ns", measure_json(m));
}

/* ---- more workers ---- */

static const char larger[] = "'16x16 Hx2Mesh' -m 256KiB --shifts 12";

/* Rate of two runs at once, each by one worker. */
static double side_by_side(void)
{
    char options[256];
    (void)snprintf(options, sizeof options, "%s --clock virtual -w 1", larger);
    FILE *first = measure_run(options);
    FILE *second = measure_run(options);
    json_t *reports[2] = {measure_report(first), measure_report(second)};
    double sum = (measure_hops(reports[0]) + measure_hops(reports[1])) / 1e6;
    json_decref(reports[0]);
    json_decref(reports[1]);
    return sum;
}

static void measure_workers(json_t *results)
{
    enum { CORES, TWO, FOUR, EIGHT, FOUR_SHARE, EIGHT_SHARE, SHARES };
    static const char *const what[SHARES] = {"two runs side by side", "2 workers",          "4 workers asked for",
                                             "8 workers asked for",   "4 that share cores", "8 that share cores"};
    static const char *const of[SHARES] = {"of one", "of one", "of two", "of two", "of two", "of two"};
    static const char *const key[SHARES] = {"side_by_side", "2_workers",     "4_workers",
                                            "8_workers",    "4_share_cores", "8_share_cores"};
    double share[SHARES][RUNS];
    for (unsigned i = 0; i < RUNS; i++) {
        double one = million_hops(larger, 1, NULL);
        double two = million_hops(larger, 2, NULL);
        share[CORES][i] = side_by_side() / one;
        share[TWO][i] = 2 * two / one;
        share[FOUR][i] = million_hops(larger, 4, NULL) / two;
        share[EIGHT][i] = million_hops(larger, 8, NULL) / two;
        share[FOUR_SHARE][i] = million_hops_with(larger, 4, " --share-cores", NULL) / two;
        share[EIGHT_SHARE][i] = million_hops_with(larger, 8, " --share-cores", NULL) / two;
    }
    printf("  %s, times the rate\n", larger);
    for (unsigned s = 0; s < SHARES; s++) {
        struct measured m = measure_summary(share[s], RUNS);
        measure_print(what[s], m, of[s]);
        keep(results, "virtual", key[s], measure_json(m));
    }
}

int main(int argc, char **argv)
{
    json_t *results = json_object();
    printf("virtual clock, 8,192 B packets, 1 worker (median of %d, spread)\n", RUNS);
    measure_memory(results);
    for (unsigned i = 0; i < sizeof fabrics / sizeof *fabrics; i++)
        measure_one(results, &fabrics[i]);
    if (hx_processor_cores() == 2)
        measure_workers(results);
    else
        printf("  more workers: not measured, what they share is said of two cores\n");
    measure_finish(results, argc, argv);
    return 0;
}
