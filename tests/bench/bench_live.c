/* bench_live.c - packet-hops a second and core of a live 4x4 Hx2Mesh, through the program as a user runs it: next to
 * the memory bandwidth if every byte is verified, and next to two workers if those outnumber the cores. */
#include "measure.h"
#include "workload/payload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 5, PACKET = 8192, PACKETS = 1 << 14 /* 128 MiB, more than a cache */ };

struct live {
    const char *key, *what, *options;
    enum { ALONE, OF_MEMORY, OF_TWO } beside;
};

static const struct live runs[] = {
    {"live_packet_hops_per_second_per_core", "live 4x4 Hx2Mesh, 1 worker, not verified",
     "'4x4 Hx2Mesh' -w 1 --no-verify --message 1MiB --duration 2s", ALONE},
    {"live_verified_packet_hops_per_second_per_core", "live, 1 worker, every byte verified",
     "'4x4 Hx2Mesh' -w 1 --message 1MiB --duration 2s", OF_MEMORY},
    {"live_small_message_packet_hops_per_second_per_core", "live, 1 worker, 8 KiB messages, not verified",
     "'4x4 Hx2Mesh' -w 1 --no-verify --message 8KiB --duration 2s", ALONE},
    {"live_packet_hops_per_second_per_core_2_workers", "live, 2 workers, not verified, per core",
     "'4x4 Hx2Mesh' -w 2 --no-verify --message 1MiB --duration 2s", ALONE},
    {"live_packet_hops_per_second_per_core_4_workers", "live, 4 workers, not verified, per core",
     "'4x4 Hx2Mesh' -w 4 --no-verify --message 1MiB --duration 2s", OF_TWO},
    {"live_packet_hops_per_second_per_core_8_workers", "live, 8 workers, not verified, per core",
     "'4x4 Hx2Mesh' -w 8 --no-verify --message 1MiB --duration 2s", OF_TWO},
};

/* Of one run: hops per second of processor time, which is the rate of one core, and hops a packet; 0: the run
 * failed. */
struct rate {
    double hops, hops_of_packet;
};

static struct rate rate_of(const char *options)
{
    json_t *report = measure_report(measure_run(options));
    double rate = measure_hops(report);
    double hops = json_number_value(json_object_get(report, "packet_hops"));
    double packets = json_number_value(json_object_get(report, "packets_delivered"));
    json_decref(report);
    return (struct rate){rate, packets > 0 ? hops / packets : 0};
}

/* Nanoseconds to write a packet's payload to memory, and to read it from there later. */
static double memory_ns(void)
{
    uint8_t *memory = malloc((size_t)PACKETS * PACKET);
    if (!memory)
        return 0;
    memset(memory, 1, (size_t)PACKETS * PACKET);
    const struct payload_id id = {.seed = 1};
    unsigned wrong = 0;
    uint64_t begin = measure_thread_ns();
    for (unsigned i = 0; i < PACKETS; i++)
        payload_write(&id, memory + (size_t)i * PACKET, PACKET);
    for (unsigned i = 0; i < PACKETS; i++)
        wrong += payload_wrong_bytes(&id, memory + (size_t)i * PACKET, PACKET);
    uint64_t took = measure_thread_ns() - begin;
    free(memory);
    return wrong ? 0 : (double)took / PACKETS;
}

int main(int argc, char **argv)
{
    json_t *results = json_object();
    double two = 0;
    printf("live emulation, 8,192 B packets, all-to-all (median of %d, spread)\n", RUNS);
    for (unsigned i = 0; i < sizeof runs / sizeof *runs; i++) {
        double samples[RUNS];
        double shares[RUNS];
        for (unsigned run = 0; run < RUNS; run++) {
            struct rate rate = rate_of(runs[i].options);
            samples[run] = rate.hops / 1e6;
            double bound = runs[i].beside == OF_TWO ? two : rate.hops_of_packet * 1e3 / memory_ns();
            shares[run] = samples[run] / bound;
        }
        struct measured m = measure_summary(samples, RUNS);
        measure_print(runs[i].what, m, "M packet-hops/s and core");
        (void)json_object_set_new(
            results, runs[i].key,
            json_pack("{s:f, s:f, s:f}", "median", m.median * 1e6, "least", m.least * 1e6, "most", m.most * 1e6));
        if (strcmp(runs[i].key, "live_packet_hops_per_second_per_core_2_workers") == 0)
            two = m.median;
        if (runs[i].beside == ALONE)
            continue;
        struct measured share = measure_summary(shares, RUNS);
        measure_print(runs[i].beside == OF_TWO ? "  of what two workers do"
                                               : "  of what writing and reading memory lets",
                      share, "");
        char key[96];
        (void)snprintf(key, sizeof key, "%s_share", runs[i].key);
        (void)json_object_set_new(results, key, measure_json(share));
    }
    measure_finish(results, argc, argv);
    return 0;
}
