/* bench_live.c - packet-hops a second and core of a live 4x4 Hx2Mesh, through the program as a user runs it. */
#include "measure.h"

#include <stdio.h>
#include <stdlib.h>

struct live {
    const char *key, *what, *options;
};

static const struct live runs[] = {
    {"live_packet_hops_per_second_per_core", "live 4x4 Hx2Mesh, 1 worker, not verified",
     "-w 1 --no-verify --message 1MiB"},
    {"live_packet_hops_per_second_per_core_2_workers", "live, 2 workers, not verified, per core",
     "-w 2 --no-verify --message 1MiB"},
    {"live_verified_packet_hops_per_second_per_core", "live, 1 worker, every byte verified", "-w 1 --message 1MiB"},
    {"live_small_message_packet_hops_per_second_per_core", "live, 1 worker, 8 KiB messages, not verified",
     "-w 1 --no-verify --message 8KiB"},
};

/* Hops per second of processor time, which is what one core gives; 0: the run failed. */
static double hops_per_core(const char *options)
{
    const char *program = getenv("HXMESH") ? getenv("HXMESH") : "build/hxmesh";
    char command[512];
    (void)snprintf(command, sizeof command, "%s run '4x4 Hx2Mesh' %s --duration 2s --quiet --json -", program, options);
    FILE *out = popen(command, "r"); // NOLINT(cert-env33-c): a benchmark of the program that its caller names
    json_t *report = out ? json_loadf(out, 0, NULL) : NULL;
    if (out)
        (void)pclose(out);
    double rate = json_number_value(json_object_get(json_object_get(report, "host"), "packet_hops_per_cpu_second"));
    json_decref(report);
    return rate;
}

int main(int argc, char **argv)
{
    json_t *results = json_object();
    printf("live emulation, 8,192 B packets, all-to-all (median of 5, spread)\n");
    for (unsigned i = 0; i < sizeof runs / sizeof *runs; i++) {
        double samples[5];
        for (unsigned run = 0; run < 5; run++)
            samples[run] = hops_per_core(runs[i].options) / 1e6;
        struct measured m = measure_summary(samples, 5);
        measure_print(runs[i].what, m, "M packet-hops/s and core");
        (void)json_object_set_new(
            results, runs[i].key,
            json_pack("{s:f, s:f, s:f}", "median", m.median * 1e6, "least", m.least * 1e6, "most", m.most * 1e6));
    }
    measure_finish(results, argc, argv);
    return 0;
}
