/* load.c - figures 6 to 12 of the diameter-two study: throughput and latency over offered load, by routing, for uniform
 * traffic and each network's worst case. */
#include "tools/reproduce/diameter2.h"

#include <math.h>
#include <string.h>

static const char worst_case[] = "worst-case";
static const char uniform[] = "uniform";

/* Carried load at full offered load, in per cent; NAN: not run. */
static double saturation(const struct reproduce_plan *p, const char *fabric, const char *traffic)
{
    for (const struct reproduce_run *run = NULL; (run = plan_next_of(p, fabric, run));) {
        if (run->rate >= 1 && strcmp(run->traffic, traffic) == 0)
            return run->share * 100;
    }
    return NAN;
}

static const char saturation_columns[] =
    "network||text; routing||text; uniform %||1; worst case %||1; worst case by formula %||1";

static void saturation_row(struct reproduce_figure *f, struct text_table *t, const char *fabric)
{
    const struct diameter2_network *network = diameter2_network_of(fabric, f->plan->effort);
    const char *routing = diameter2_routing_of(fabric);
    const double formula = strcmp(routing, "minimal") == 0 ? network->worst[f->plan->effort] * 100 : NAN;
    figure_row(f, t, saturation_columns, TEXTS(diameter2_spec_of(network, f->plan->effort), routing),
               NUMBERS(saturation(f->plan, fabric, uniform), saturation(f->plan, fabric, worst_case), formula));
}

static const char load_columns[] =
    "network|fabric|text; routing|routing|text; traffic|traffic|text; offered %|offered_percent|0; "
    "carried %|carried_percent|1; p50 us||2; p99 us||2; |p50_ns|0; |p99_ns|0";

static void load_table(struct reproduce_figure *f)
{
    struct text_table *t = figure_table(f, 3, load_columns);
    for (const struct reproduce_run *run = NULL; (run = plan_next_done(f->plan, run));) {
        const struct diameter2_network *network = diameter2_network_of(run->fabric, f->plan->effort);
        figure_row(
            f, t, load_columns,
            TEXTS(diameter2_spec_of(network, f->plan->effort), diameter2_routing_of(run->fabric), run->traffic),
            NUMBERS(run->rate * 100, run->share * 100, run->p50_ns / 1e3, run->p99_ns / 1e3, run->p50_ns, run->p99_ns));
    }
}

static void plot_of(struct reproduce_figure *f, const char *const *fabrics, unsigned count, const char *traffic,
                    bool latency)
{
    struct plot *p = figure_plot(f, "offered, share of injection (%)", PLOT_LINEAR,
                                 latency ? "median latency of a packet (us)" : "carried, share of injection (%)",
                                 "%s, %s traffic (figure %s)", latency ? "Median latency" : "Throughput", traffic,
                                 f->name + strlen("fig"));
    for (unsigned n = 0; n < count; n++) {
        const struct diameter2_network *network = diameter2_network_of(fabrics[n], f->plan->effort);
        struct plot_series *line = plot_add(p, PLOT_LINE, n, "%s, %s", network->name, diameter2_routing_of(fabrics[n]));
        for (const struct reproduce_run *run = NULL; (run = plan_next_of(f->plan, fabrics[n], run));) {
            if (strcmp(run->traffic, traffic) == 0)
                plot_point(line, run->rate * 100, latency ? run->p50_ns / 1e3 : run->share * 100);
        }
    }
}

void show_load(struct reproduce_figure *f)
{
    const char *fabrics[REPRODUCE_MOST_FABRICS];
    unsigned count = plan_fabrics(f->plan, fabrics);
    struct text_table *t = figure_table(f, 2, saturation_columns);
    for (unsigned n = 0; n < count; n++)
        saturation_row(f, t, fabrics[n]);
    load_table(f);
    for (unsigned latency = 0; latency < 2; latency++) {
        plot_of(f, fabrics, count, uniform, latency);
        plot_of(f, fabrics, count, worst_case, latency);
    }
}
