/* run.c - one simulation (tools/reproduce/run.h). */
#include "tools/reproduce/run.h"
#include "base/beside.h"
#include "base/error.h"
#include "hxmesh/frame.h"
#include "spec/spec.h"
#include "spec/timing.h"
#include "tools/simulation.h"
#include "topology/bounds.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

/* ---- estimate of the work ---- */

/* Mean number of switches between two random accelerators. */
static double mean_switches(const struct hx_geometry *g)
{
    double x = 0;
    double y = 0;
    for (unsigned from = 0; from < g->columns; from++)
        for (unsigned to = 0; to < g->columns; to++)
            x += hx_distance(g, from, 0, to, 0);
    for (unsigned from = 0; from < g->rows; from++)
        for (unsigned to = 0; to < g->rows; to++)
            y += hx_distance(g, 0, from, 0, to);
    return 1 + x / ((double)g->columns * g->columns) + y / ((double)g->rows * g->rows);
}

/* Mean number of switches to the next accelerator of a row or column, on the same board or the next. */
static double neighbour_switches(const struct hx_geometry *g)
{
    return 2 + 1.0 / g->a;
}

/* Mean number of switches that a packet passes: to a random host, and to a neighbour on the logical grid. */
struct passes {
    double mean, neighbour;
};

static struct passes passes_of(const struct hx_fabric *f)
{
    if (f->mesh.nodes)
        return (struct passes){mean_switches(&f->mesh), neighbour_switches(&f->mesh)};
    double mean = 1 + hx_fabric_distances(f).average;
    return (struct passes){mean, mean};
}

static double all_reduce_packets(const struct reproduce_run *run, const struct hx_fabric *g, struct passes p,
                                 double *switches)
{
    double n = g->hosts;
    double payload = 2 * (n - 1) * ceil((double)run->bytes / HX_MAX_PAYLOAD);
    double steps = 0; /* messages that each accelerator sends at least */
    *switches = p.neighbour;
    if (strcmp(run->algorithm, "tree") == 0 || strcmp(run->algorithm, "halving") == 0)
        *switches = p.mean;
    else if (strcmp(run->algorithm, "torus") == 0)
        steps = 4 * 2 * (g->columns + g->rows - 2.0);
    else
        steps = (strcmp(run->algorithm, "ring") == 0 ? 2 : 4) * 2 * (n - 1);
    return fmax(payload, n * steps);
}

/* Packets that a host sends in the run's duration, limited by the all-to-all bound. */
static double sent_in(const struct reproduce_run *run, const struct hx_fabric *g)
{
    enum hx_timing_preset preset = HX_TIMING_PAPER;
    while (run->timing && hx_timing_presets[preset + 1] && strcmp(run->timing, hx_timing_presets[preset]) != 0)
        preset++;
    double gbps = (double)hx_timing_values[preset].link;
    double share = hx_fabric_alltoall_bound(g);
    if (run->rate > 0 && run->rate < share)
        share = run->rate;
    return (double)run->duration * gbps / 8 * hx_fabric_injection(g, gbps) * share / HX_MAX_PAYLOAD;
}

double reproduce_estimate(const struct reproduce_run *run)
{
    if (run->schedule)
        return run->hops;
    struct hx_spec spec;
    hx_spec_load(run->fabric, NULL, &spec);
    const struct hx_fabric *g = hx_spec_fabric(&spec);
    const struct passes p = passes_of(g);
    double packets = ceil((double)run->bytes / HX_MAX_PAYLOAD);
    double n = g->hosts;
    double switches = p.mean;
    double all = n * packets * (run->shifts ? (double)run->shifts : n - 1);
    if (run->algorithm)
        all = all_reduce_packets(run, g, p, &switches);
    else if (run->duration)
        all = n * sent_in(run, g);
    else if (strcmp(run->traffic, "permutation") == 0)
        all = n * packets;
    else if (strcmp(run->traffic, "neighbour-3d") == 0)
        all = n * packets * 6;
    hx_spec_free(&spec);
    return all * switches;
}

/* ---- command line ---- */

/* An option with its value; none if the value is NULL or 0. */
static void add_text(struct hx_arguments *a, const char *option, const char *value)
{
    if (!value)
        return;
    hx_arguments_add(a, "%s", option);
    hx_arguments_add(a, "%s", value);
}

static void add_count(struct hx_arguments *a, const char *option, uint64_t value)
{
    char text[HX_VALUE_TEXT];
    (void)snprintf(text, sizeof text, "%" PRIu64, value);
    add_text(a, option, value ? text : NULL);
}

static void add_bytes(struct hx_arguments *a, const char *option, uint64_t bytes)
{
    char text[HX_VALUE_TEXT];
    add_text(a, option, bytes ? hx_value_write_bytes(text, bytes) : NULL);
}

static void add_time(struct hx_arguments *a, const char *option, uint64_t nanoseconds)
{
    char text[HX_VALUE_TEXT];
    add_text(a, option, nanoseconds ? hx_value_write_duration(text, nanoseconds) : NULL);
}

void reproduce_find_example(const char *name, char path[PATH_MAX])
{
    static const char *const folders[] = {"../examples", "../../examples", "../share/hxmesh/examples",
                                          "../../share/hxmesh/examples"};
    (void)snprintf(path, PATH_MAX, "examples/%s", name);
    for (unsigned i = 0; i < sizeof folders / sizeof *folders && access(path, R_OK) != 0; i++) {
        char beside[PATH_MAX];
        char found[PATH_MAX];
        (void)snprintf(beside, sizeof beside, "%s/%s", folders[i], name);
        if (beside_path(beside, found, sizeof found) && access(found, R_OK) == 0)
            (void)snprintf(path, PATH_MAX, "%s", found);
    }
}

static struct hx_arguments arguments_of(const struct reproduce_run *run, unsigned workers, double fast_forward)
{
    struct hx_arguments made = simulation_arguments(run->fabric);
    struct hx_arguments *a = &made;
    char path[PATH_MAX], text[PATH_MAX];
    (void)snprintf(text, sizeof text, "models/%s", run->traffic);
    if (run->schedule)
        reproduce_find_example(text, path);
    add_text(a, "--clock", "virtual");
    add_text(a, "--traffic", run->schedule ? path : run->traffic);
    for (unsigned i = 0; i < REPRODUCE_SETS && run->set[i]; i++)
        add_text(a, "--set", run->set[i]);
    add_text(a, "--algorithm", run->algorithm);
    add_text(a, "--place", run->place);
    add_count(a, "--planes", run->planes);
    add_bytes(a, "--message", run->bytes);
    add_count(a, "--shifts", run->shifts);
    add_text(a, "--timing", run->timing);
    add_bytes(a, "--buffer", run->buffer);
    (void)snprintf(text, sizeof text, "%g", run->rate);
    add_text(a, "--rate", run->rate > 0 ? text : NULL);
    (void)snprintf(text, sizeof text, "%g", fast_forward);
    add_text(a, "--fast-forward", run->schedule && fast_forward > 0 ? text : NULL);
    add_time(a, "--duration", run->duration);
    add_time(a, "--warm-up", run->warm_up);
    add_count(a, "--seed", run->seed);
    add_count(a, "--workers", workers);
    hx_arguments_add(a, "--no-links");
    simulation_ask(a, false);
    return made;
}

static void write_command(struct reproduce_run *run, const struct hx_arguments *a)
{
    size_t used = (size_t)snprintf(run->command, sizeof run->command, "hxmesh");
    for (size_t i = 1; i < a->count && used < sizeof run->command; i++) {
        const char *quote = strchr(a->item[i], ' ') ? "\"" : "";
        used += (size_t)snprintf(run->command + used, sizeof run->command - used, " %s%s%s", quote, a->item[i], quote);
    }
}

/* ---- report ---- */

static void read_received(struct reproduce_run *run, const struct report *r)
{
    run->receivers = (unsigned)report_length(r, "receive_share");
    run->received = hx_allocate(run->receivers, sizeof *run->received);
    for (unsigned i = 0; i < run->receivers; i++)
        run->received[i] = report_number_at(r, "receive_share", i);
}

static void read_report(struct reproduce_run *run, const struct report *r)
{
    const bool collective = run->algorithm && !run->schedule;
    /* The share as the paper defines it. */
    run->share = report_number(r, collective ? "collective.vector_share" : "share_of_injection");
    run->virtual_seconds = report_number(r, "virtual_seconds");
    run->packet_hops = report_number(r, "packet_hops");
    run->hops_per_second = report_number(r, "host.packet_hops_per_second");
    run->bound = report_number(r, "alltoall_bound");
    run->p50_ns = report_number_or_null(r, "latency_ns.p50");
    run->p99_ns = report_number_or_null(r, "latency_ns.p99");
    if (strcmp(run->traffic, "permutation") == 0)
        read_received(run, r);
    if (!run->schedule)
        return;
    const struct report schedule = report_entry(r, "schedule", 0);
    run->schedule_seconds = report_number(&schedule, "seconds");
    run->computing_seconds = report_number(&schedule, "computing_seconds.most");
}

bool reproduce_do(struct reproduce_run *run, unsigned workers, double fast_forward, bool quiet)
{
    struct hx_arguments a = arguments_of(run, workers, fast_forward);
    write_command(run, &a);
    if (quiet)
        hx_arguments_add(&a, "--quiet");
    struct simulation s = simulation_run(run->command, &a, NULL, NULL);
    run->wall_seconds = s.seconds;
    if (s.report.json)
        read_report(run, &s.report);
    const bool good = simulation_end(&s) == HX_EXIT_DONE;
    run->state = good ? REPRODUCE_DONE : REPRODUCE_FAILED;
    return good;
}

/* NULL: 0. */
static json_t *count_json(uint64_t count)
{
    return count ? json_integer((json_int_t)count) : NULL;
}

json_t *reproduce_run_json(const struct reproduce_run *run)
{
    static const char *const states[] = {"not run", "left out", "done", "failed"};
    const bool done = run->state == REPRODUCE_DONE;
    /* "*" leaves out a key without a value. */
    json_t *o = json_pack("{s:s, s:s, s:s*, s:I, s:s, s:s*, s:o*, s:o*, s:o*, s:s*}", "fabric", run->fabric, "traffic",
                          run->traffic, "algorithm", run->algorithm, "bytes", (json_int_t)run->bytes, "state",
                          states[run->state], "place", run->place, "shifts", count_json(run->shifts), "seed",
                          count_json(run->seed), "planes", count_json(run->planes), "command",
                          run->command[0] ? run->command : NULL);
    if (done)
        (void)json_object_update_new(o, json_pack("{s:f, s:f, s:f, s:I, s:f, s:f}", "share", run->share,
                                                  "alltoall_bound", run->bound, "virtual_seconds", run->virtual_seconds,
                                                  "packet_hops", (json_int_t)run->packet_hops, "wall_seconds",
                                                  run->wall_seconds, "packet_hops_per_second", run->hops_per_second));
    if (done && run->schedule)
        (void)json_object_update_new(o, json_pack("{s:f, s:f}", "schedule_seconds", run->schedule_seconds,
                                                  "computing_seconds", run->computing_seconds));
    return o;
}

void reproduce_run_free(struct reproduce_run *run)
{
    free(run->received);
    run->received = NULL;
}
