/* figures.c - numbers that a report may have, by flat name, and their units (tools/sweep/sweep.h, docs/report.md). */
#include "base/counts.h"
#include "base/error.h"
#include "fabric-emu/report/fields.h"
#include "tools/sweep/sweep.h"

#include <string.h>

struct figure {
    const char *name, *type, *unit;
};

/* clang-format off */
#define FIGURE(key, value, unit, meaning)            {key, REPORT_TYPE_##value, unit},
#define FIGURE_IF(when, key, value, unit, meaning)   {key, REPORT_TYPE_##value, unit},
#define FLOWS(key, value, unit, meaning)             {"flows." key, REPORT_TYPE_##value, unit},
#define LATENCY(key, value, unit, meaning)           {"latency_ns." key, REPORT_TYPE_##value, unit},
#define NETWORK(key, value, unit, meaning)           {"network_latency_ns." key, REPORT_TYPE_##value, unit},
#define OPEN_LOOP(key, value, unit, meaning)         {"open_loop." key, REPORT_TYPE_##value, unit},
#define COLLECTIVE(key, value, unit, meaning)        {"collective." key, REPORT_TYPE_##value, unit},
#define COLLECTIVE_IF(when, key, value, unit, meaning) {"collective." key, REPORT_TYPE_##value, unit},
#define STALLS(key, value, unit, meaning)            {"stalls." key, REPORT_TYPE_##value, unit},
#define HOST(key, value, unit, meaning)              {"host." key, REPORT_TYPE_##value, unit},
#define CAPTURE(key, unit)                           {"capture." key, "integer", unit},

/* Those of a report that are in no list, and what a sweep finds. */
static const struct figure figures[] = {
    REPORT_RUN(FIGURE, FIGURE_IF) REPORT_FLOWS(FLOWS) REPORT_LATENCY(LATENCY, "") REPORT_LATENCY(NETWORK, "")
    REPORT_OPEN_LOOP(OPEN_LOOP) REPORT_COLLECTIVE(COLLECTIVE, COLLECTIVE_IF) REPORT_HOST(HOST) REPORT_STALLS(STALLS)
    CAPTURE("interfaces", "") CAPTURE("received", "") CAPTURE("accepted", "") CAPTURE("dropped", "")
    CAPTURE("written", "") CAPTURE("unwritten", "") CAPTURE("bytes", "bytes") CAPTURE("files", "")
    {"saturation", "number", "share"}, {"iteration_seconds", "number", "s"}};
/* clang-format on */
enum { FIGURES = sizeof figures / sizeof *figures };

static bool is_number(const struct figure *figure)
{
    return strcmp(figure->type, "integer") == 0 || strcmp(figure->type, "number") == 0;
}

/* The figure with a name, or of its interval; NULL: none, or it is no number. */
static const struct figure *figure_of(const char *name)
{
    const char *interval = strstr(name, SWEEP_INTERVAL);
    const size_t length = interval ? (size_t)(interval - name) : strlen(name);
    for (unsigned i = 0; i < FIGURES; i++)
        if (strncmp(figures[i].name, name, length) == 0 && !figures[i].name[length] && is_number(&figures[i]))
            return &figures[i];
    return NULL;
}

static bool is_one_of(const char *name, const char *const *list)
{
    while (*list && strcmp(*list, name) != 0)
        list++;
    return *list != NULL;
}

bool sweep_is_figure(const char *name)
{
    static const char drops[] = "drops.";
    bool is_drop = strncmp(name, drops, sizeof drops - 1) == 0 && is_one_of(name + sizeof drops - 1, hx_drop_names);
    return is_drop || figure_of(name);
}

void sweep_figure_check(const char *option, const char *name)
{
    char hint[HX_HINT_TEXT];
    const char *names[FIGURES + 1] = {NULL};
    if (sweep_is_figure(name))
        return;
    for (unsigned i = 0, count = 0; i < FIGURES; i++)
        if (is_number(&figures[i]))
            names[count++] = figures[i].name;
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
        const char *of_field, *unit;
    } units[] = {{"share", "%"}, {"ns", "ns"}, {"s", "s"}, {"bytes", "B"}, {"Gb/s", "Gb/s"}};
    const struct figure *figure = figure_of(name);
    for (unsigned i = 0; figure && i < sizeof units / sizeof *units; i++)
        if (strcmp(figure->unit, units[i].of_field) == 0)
            return units[i].unit;
    return "";
}
