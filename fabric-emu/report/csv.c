/* csv.c - the figures of a report as CSV (result.h), one set of columns for all runs.
 *
 * A field without a value is empty. A job's line has the job's own figures, and the settings of the run. */
#include "base/csv.h"
#include "base/output.h"
#include "fabric-emu/report/result.h"

#include <inttypes.h>
#include <string.h>

enum { LONGEST_PATH = 64 };

/* Path of a column's value in the report, with dots. */
struct column {
    const char *name, *path;
};

/* Settings: the same in the lines of a run and its jobs. */
static const struct column settings[] = {{"date", "host.date"},
                                         {"version", "version"},
                                         {"fabric", "spec"},
                                         {"planes", "planes"},
                                         {"clock", "clock"},
                                         {"seed", "seed"},
                                         {"traffic", "traffic"},
                                         {"algorithm", "settings.algorithm"},
                                         {"message_bytes", "settings.message"},
                                         {"count", "settings.count"},
                                         {"duration", "settings.duration"},
                                         {"warm_up", "settings.warm-up"},
                                         {"rate", "settings.rate"},
                                         {"injection_rate", "settings.injection-rate"},
                                         {"select", "settings.select"},
                                         {"verify", "verify"},
                                         {"link_gbps", "link_gbps"},
                                         {"injection_gbps", "injection_gbps"},
                                         {"seconds", "seconds"}};

/* Figures, under the names that a job's figures have. */
static const struct column figures[] = {{"job", "job"},
                                        {"accelerators", "accelerators"},
                                        {"messages_begun", "messages_begun"},
                                        {"messages", "messages"},
                                        {"messages_failed", "messages_failed"},
                                        {"packets_sent", "packets_sent"},
                                        {"packets_delivered", "packets_delivered"},
                                        {"packets_lost", "packets_lost"},
                                        {"packets_in_flight", "packets_in_flight"},
                                        {"packets_repeated", "packets_repeated"},
                                        {"bytes_delivered", "bytes_delivered"},
                                        {"bytes_corrupted", "bytes_corrupted"},
                                        {"gbps_per_host", "gbps_per_host"},
                                        {"share_of_injection", "share_of_injection"},
                                        {"latency_mean_ns", "latency_ns.mean"},
                                        {"latency_p50_ns", "latency_ns.p50"},
                                        {"latency_p99_ns", "latency_ns.p99"},
                                        {"latency_p999_ns", "latency_ns.p999"},
                                        {"latency_max_ns", "latency_ns.max"},
                                        {"network_latency_mean_ns", "network_latency_ns.mean"},
                                        {"network_latency_p50_ns", "network_latency_ns.p50"},
                                        {"network_latency_p99_ns", "network_latency_ns.p99"},
                                        {"measured_packets", "measured_packets"},
                                        {"share_offered", "share_offered"},
                                        {"stable", "open_loop.stable"},
                                        {"unstable_because", "open_loop.unstable_because"},
                                        {"complete", "complete"},
                                        {"interrupted", "interrupted"},
                                        {"alltoall_bound", "alltoall_bound"},
                                        {"share_of_bound", "share_of_bound"},
                                        {"collective_share", "collective.share"},
                                        {"collective_algorithm_gbps", "collective.algorithm_gbps"},
                                        {"collective_bus_gbps", "collective.bus_gbps"},
                                        {"packet_hops", "packet_hops"},
                                        {"max_vc", "max_vc"},
                                        {"workers", "host.workers"},
                                        {"wall_seconds", "host.wall_seconds"},
                                        {"cpu_seconds", "host.cpu_seconds"},
                                        {"peak_memory_bytes", "host.peak_memory_bytes"}};
#define COUNT(columns) (sizeof(columns) / sizeof *(columns))

static const json_t *find(const json_t *in, const char *path)
{
    while (in && *path) {
        char part[LONGEST_PATH];
        size_t length = strcspn(path, ".");
        (void)snprintf(part, sizeof part, "%.*s", (int)length, path);
        in = json_object_get(in, part);
        path += length + (path[length] == '.');
    }
    return in;
}

/* `of`: the report itself, or one of its jobs. */
static void write_line(FILE *out, const json_t *report, const json_t *of)
{
    for (unsigned i = 0; i < COUNT(settings); i++) {
        hx_csv_value(out, find(report, settings[i].path));
        (void)fputc(',', out);
    }
    for (unsigned i = 0; i < COUNT(figures); i++) {
        hx_csv_value(out, find(of, figures[i].path));
        (void)fputc(',', out);
    }
    hx_csv_value(out, find(report, "host.command"));
    (void)fputc('\n', out);
}

void result_csv(const json_t *report, const char *path)
{
    FILE *out = hx_output_open(path);
    for (unsigned i = 0; i < COUNT(settings); i++)
        fprintf(out, "%s,", settings[i].name);
    for (unsigned i = 0; i < COUNT(figures); i++)
        fprintf(out, "%s,", figures[i].name);
    (void)fputs("command\n", out);
    write_line(out, report, report);
    const json_t *jobs = json_object_get(report, "jobs");
    for (size_t i = 0; i < json_array_size(jobs); i++)
        write_line(out, report, json_array_get(jobs, i));
    hx_output_close(out, path);
}
