/* figures.c - numbers that a report may have, by flat name, and their units (tools/sweep/sweep.h, docs/report.md). */
#include "base/counts.h"
#include "base/error.h"
#include "tools/sweep/sweep.h"

#include <string.h>

static const char *const names[] = {"share_of_injection",
                                    "gbps_per_host",
                                    "injection_gbps",
                                    "host_links",
                                    "share_offered",
                                    "saturation",
                                    "share_of_bound",
                                    "alltoall_bound",
                                    "latency_ns.mean",
                                    "latency_ns.p50",
                                    "latency_ns.p99",
                                    "latency_ns.p999",
                                    "latency_ns.max",
                                    "network_latency_ns.mean",
                                    "network_latency_ns.p50",
                                    "network_latency_ns.p99",
                                    "network_latency_ns.p999",
                                    "network_latency_ns.max",
                                    "measured_packets",
                                    "open_loop.growth",
                                    "open_loop.marked_messages",
                                    "open_loop.arrived_messages",
                                    "open_loop.drain_seconds",
                                    "open_loop.drain_limit_seconds",
                                    "seconds",
                                    "virtual_seconds",
                                    "warm_up_seconds",
                                    "iteration_seconds",
                                    "packets_sent",
                                    "packets_delivered",
                                    "packets_lost",
                                    "packets_in_flight",
                                    "packets_repeated",
                                    "packet_hops",
                                    "bytes_delivered",
                                    "bytes_corrupted",
                                    "messages",
                                    "messages_begun",
                                    "messages_failed",
                                    "window_wait_share",
                                    "acknowledgements",
                                    "buffers_missing",
                                    "max_vc",
                                    "collective.share",
                                    "collective.vector_share",
                                    "collective.seconds",
                                    "collective.algorithm_gbps",
                                    "collective.bus_gbps",
                                    "collective.done",
                                    "collective.accelerators",
                                    "collective.vector_bytes",
                                    "flows.messages",
                                    "flows.left_out",
                                    "host.workers",
                                    "host.worker_deaths",
                                    "host.wall_seconds",
                                    "host.cpu_seconds",
                                    "host.verify_seconds",
                                    "host.packet_hops_per_second",
                                    "host.packet_hops_per_cpu_second",
                                    "host.peak_memory_bytes",
                                    "accelerators",
                                    "planes",
                                    "seed",
                                    "message_bytes",
                                    "pace",
                                    "link_gbps",
                                    "capture.interfaces",
                                    "capture.received",
                                    "capture.accepted",
                                    "capture.dropped",
                                    "capture.written",
                                    "capture.unwritten",
                                    "capture.bytes",
                                    "capture.files",
                                    NULL};

static bool is_one_of(const char *name, const char *const *list)
{
    while (*list && strcmp(*list, name) != 0)
        list++;
    return *list != NULL;
}

/* Returns true for one of the counts below a key: "drops.malformed". */
static bool is_count(const char *name, const char *key, const char *const *list)
{
    size_t bytes = strlen(key);
    return strncmp(name, key, bytes) == 0 && is_one_of(name + bytes, list);
}

bool sweep_is_figure(const char *name)
{
    char figure[SWEEP_INTERVAL_NAME];
    (void)snprintf(figure, sizeof figure, "%s", name);
    char *interval = strstr(figure, SWEEP_INTERVAL);
    if (interval)
        *interval = '\0';
    return is_count(name, "drops.", hx_drop_names) || is_count(name, "stalls.", hx_stall_names) ||
           is_one_of(figure, names);
}

void sweep_figure_check(const char *option, const char *name)
{
    char hint[HX_HINT_TEXT];
    if (sweep_is_figure(name))
        return;
    hx_die(HX_EXIT_USAGE, option,
           "'%.60s' is no figure of a report%s; share_of_injection, share_of_bound, latency_ns.p50, latency_ns.p99, "
           "packet_hops, "
           "collective.share and host.wall_seconds are (docs/report.md has all)",
           name, hx_did_you_mean(hint, name, names));
}

const char *sweep_figure_head(const char *name)
{
    static const struct {
        const char *name, *head;
    } heads[] = {{"seconds", "time"},          {"virtual_seconds", "time"},     {"iteration_seconds", "iteration"},
                 {"gbps_per_host", "Gb/s"},    {"injection_gbps", "injects"},   {"host_links", "links"},
                 {"link_gbps", "link"},        {"share_of_injection", "share"}, {"share_of_bound", "bound"},
                 {"latency_ns.mean", "mean"},  {"latency_ns.p50", "p50"},       {"latency_ns.p99", "p99"},
                 {"latency_ns.p999", "p99.9"}, {"latency_ns.max", "max"}};
    for (unsigned i = 0; i < sizeof heads / sizeof *heads; i++)
        if (strcmp(heads[i].name, name) == 0)
            return heads[i].head;
    return name;
}

const char *sweep_figure_unit(const char *name)
{
    static const struct {
        const char *part, *unit;
    } units[] = {{"share", "%"},        {"saturation", "%"}, {"alltoall_bound", "%"},
                 {"latency_ns.", "ns"}, {"per_second", ""},  {"per_cpu_second", ""},
                 {"seconds", "s"},      {"bytes", "B"},      {"gbps", "Gb/s"}};
    for (unsigned i = 0; i < sizeof units / sizeof *units; i++)
        if (strstr(name, units[i].part))
            return units[i].unit;
    return "";
}
