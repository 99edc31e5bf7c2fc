/* load.c - figures 6 to 12 of the diameter-two study: throughput and latency over offered load, by routing, for uniform
 * traffic and each network's worst case. */
#include "tools/reproduce/diameter2.h"

#include <math.h>
#include <string.h>

enum { MOST_CURVES = 16 };

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

static void saturation_table(struct reproduce_figure *f, const char *const *fabrics, unsigned count)
{
    struct text_table *t = figure_table(f, 2);
    text_table_row(t, "network", "routing", "uniform %", "worst case %", "worst case by formula %");
    for (unsigned n = 0; n < count; n++) {
        const struct diameter2_network *network = diameter2_network_of(fabrics[n], f->plan->effort);
        const char *routing = diameter2_routing_of(fabrics[n]);
        double formula = strcmp(routing, "minimal") == 0 ? network->worst * 100 : NAN;
        struct cells c = {0};
        text_table_row(t, network->spec, routing, cell(&c, 1, saturation(f->plan, fabrics[n], uniform)),
                       cell(&c, 1, saturation(f->plan, fabrics[n], worst_case)), cell(&c, 1, formula));
    }
}

static void load_table(struct reproduce_figure *f)
{
    struct text_table *t = figure_table(f, 3);
    text_table_row(t, "network", "routing", "traffic", "offered %", "carried %", "p50 us", "p99 us");
    for (const struct reproduce_run *run = NULL; (run = plan_next_done(f->plan, run));) {
        const char *network = diameter2_network_of(run->fabric, f->plan->effort)->spec;
        struct cells c = {0};
        text_table_row(t, network, diameter2_routing_of(run->fabric), run->traffic, cell(&c, 0, run->rate * 100),
                       cell(&c, 1, run->share * 100), cell(&c, 2, run->p50_ns / 1e3), cell(&c, 2, run->p99_ns / 1e3));
        figure_result(f, json_pack("{s:s, s:s, s:s, s:f, s:f, s:o, s:o}", "fabric", network, "routing",
                                   diameter2_routing_of(run->fabric), "traffic", run->traffic, "offered_percent",
                                   run->rate * 100, "carried_percent", run->share * 100, "p50_ns",
                                   figure_number(run->p50_ns), "p99_ns", figure_number(run->p99_ns)));
    }
}

static void plot_of(struct reproduce_figure *f, const char *const *fabrics, unsigned count, const char *traffic,
                    bool latency)
{
    char title[PLOT_TEXT];
    (void)snprintf(title, sizeof title, "%s, %s traffic (figure %s)", latency ? "Median latency" : "Throughput",
                   traffic, f->name + strlen("fig"));
    struct plot *p = figure_plot(f, title, "offered, share of injection (%)", PLOT_LINEAR, PLOT_NUMBER,
                                 latency ? "median latency of a packet (us)" : "carried, share of injection (%)");
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
    saturation_table(f, fabrics, count);
    load_table(f);
    for (unsigned latency = 0; latency < 2; latency++) {
        plot_of(f, fabrics, count, uniform, latency);
        plot_of(f, fabrics, count, worst_case, latency);
    }
    figure_annotation(
        f, "First table: carried where hosts offer all they can. SF+ is the Slim Fly with one host more on each "
           "router.");
    figure_annotation(
        f, "Paper, uniform: minimal routing carries 96 to 98 %% on the Slim Fly of p=9, the MLFM and the OFT, 87 %% "
           "with p=10; Valiant half of that; UGAL-L as minimal.");
    figure_annotation(
        f, "Paper, worst case: minimal routing carries 5, 6.6 and 8.3 %% (1/2p, 1/h, 1/k), Valiant half of the "
           "injection, UGAL-L no less than Valiant.");
    figure_annotation(
        f, "Messages of 64 KiB in packets of 8 KiB and buffers of 400 packets, in place of packets of 256 B and "
           "100 KB: times are longer in that proportion.");
}
