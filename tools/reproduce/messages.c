/* messages.c - figures 11 and 12: all-to-all over message sizes, and random permutations. */
#include "base/compare.h"
#include "base/error.h"
#include "tools/reproduce/figure.h"
#include "tools/reproduce/paper.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- figure 11 ---- */

static void fig11_table(struct reproduce_figure *f)
{
    struct text_table *t = figure_table(f, 1);
    text_table_row(t, "fabric", "message", "share %", "paper %", "bound %", "simulated ms");
    for (const struct reproduce_run *run = NULL; (run = plan_next_done(f->plan, run));) {
        double paper = run->bytes == PAPER_MESSAGE ? paper_figures_of(run->fabric)->alltoall : NAN;
        struct cells c = {0};
        text_table_row(t, run->fabric, cell_bytes(&c, run->bytes), cell(&c, 2, run->share * 100), cell(&c, 1, paper),
                       cell(&c, 2, run->bound * 100), cell(&c, 4, run->virtual_seconds * 1e3));
        figure_result(f, json_pack("{s:s, s:I, s:f, s:o, s:f, s:f}", "fabric", run->fabric, "message_bytes",
                                   (json_int_t)run->bytes, "share_percent", run->share * 100, "paper_percent",
                                   figure_number(paper), "bound_percent", run->bound * 100, "virtual_seconds",
                                   run->virtual_seconds));
    }
}

/* Plots HammingMeshes (own), or the other fabrics. */
static void fig11_plot(struct reproduce_figure *f, bool own)
{
    struct plot *p = figure_plot(f,
                                 own ? "All-to-all over message sizes (figure 11)"
                                     : "All-to-all over message sizes, other fabrics (figure 11)",
                                 "message", PLOT_BINARY, PLOT_BYTES, "share of injection (%)");
    const char *fabrics[REPRODUCE_MOST_FABRICS];
    unsigned count = plan_fabrics(f->plan, fabrics);
    for (unsigned n = 0; n < count; n++) {
        if (paper_own(fabrics[n]) != own)
            continue;
        const char *name = own ? fabrics[n] : paper_brief(fabrics[n]);
        struct plot_series *ours = plot_add(p, PLOT_LINE, n, "%s", name);
        struct plot_series *bound = plot_add(p, PLOT_DASHES, n, "%s, %s", name, own ? "cut bound" : "bound");
        struct plot_series *paper = plot_add(p, PLOT_DIAMONDS, n, "%s, paper (table II)", name);
        for (const struct reproduce_run *run = NULL; (run = plan_next_of(f->plan, fabrics[n], run));) {
            plot_point(ours, (double)run->bytes, run->share * 100);
            plot_point(bound, (double)run->bytes, run->bound * 100);
        }
        double value = paper_figures_of(fabrics[n])->alltoall;
        if (isfinite(value))
            plot_point(paper, PAPER_MESSAGE, value);
    }
}

void show_fig11(struct reproduce_figure *f)
{
    fig11_table(f);
    fig11_plot(f, true);
    fig11_plot(f, false);
    figure_annotation(
        f, "Paper: table II's value for messages of 1 MiB. The other points of its figure 11 are a plotted curve; "
           "values read off a plot are left out.");
    figure_annotation(
        f, "Share: payload delivered until the last delivery, over 4 x 400 Gb/s for each accelerator in that time. "
           "Bound: what the cut through the fabric, or its fullest link, allows.");
    figure_annotation(f,
                      "Other fabrics: from 64 KiB on a sample of shifts by default, which is filled and drained; the "
                      "command says how many.");
}

/* ---- figure 12 ---- */

/* Bandwidth received by all accelerators of a fabric, over all seeds, ascending, in percent of injection. */
struct sample {
    double *share;
    unsigned count, seeds;
    double sum;
};

static struct sample gather(const struct reproduce_plan *plan, const char *fabric)
{
    struct sample s = {.count = 0};
    size_t most = 0;
    for (unsigned i = 0; i < plan->count; i++)
        most += plan->run[i].receivers;
    s.share = hx_allocate(most, sizeof *s.share);
    for (const struct reproduce_run *run = NULL; (run = plan_next_of(plan, fabric, run));) {
        s.seeds++;
        for (unsigned rank = 0; rank < run->receivers; rank++) {
            s.share[s.count++] = run->received[rank] * 100;
            s.sum += run->received[rank] * 100;
        }
    }
    qsort(s.share, s.count, sizeof *s.share, hx_compare_double);
    return s;
}

/* The least share that at least `part` of the accelerators do not exceed. */
static double quantile(const struct sample *s, double part)
{
    double place = ceil(part * s->count) - 1;
    return s->share[place < 0 ? 0 : (unsigned)place];
}

static void fig12_row(struct reproduce_figure *f, struct text_table *t, const char *fabric, const struct sample *s)
{
    struct cells c = {0};
    double mean = s->sum / s->count;
    text_table_row(t, fabric, cell(&c, 0, s->seeds), cell(&c, 2, s->share[0]), cell(&c, 2, quantile(s, 0.05)),
                   cell(&c, 2, quantile(s, 0.5)), cell(&c, 2, mean), cell(&c, 2, quantile(s, 0.95)),
                   cell(&c, 2, s->share[s->count - 1]), "");
    figure_result(f,
                  json_pack("{s:s, s:i, s:i, s:f, s:f, s:f, s:f, s:f, s:f, s:n}", "fabric", fabric, "seeds",
                            (int)s->seeds, "accelerators", (int)s->count, "least_percent", s->share[0], "p5_percent",
                            quantile(s, 0.05), "median_percent", quantile(s, 0.5), "mean_percent", mean, "p95_percent",
                            quantile(s, 0.95), "most_percent", s->share[s->count - 1], "paper_percent"));
}

static void fig12_curve(struct plot *p, unsigned colour, const char *fabric, const struct sample *s)
{
    enum { STEPS = PLOT_MOST_POINTS - 1 };
    const char *name = paper_own(fabric) ? fabric : paper_brief(fabric);
    struct plot_series *curve = plot_add(p, PLOT_CURVE, colour, "%s", name);
    struct plot_series *mean = plot_add(p, PLOT_DASHES, colour, "%s, mean", name);
    for (unsigned i = 0; i <= STEPS; i++)
        plot_point(curve, quantile(s, (double)i / STEPS), 100.0 * i / STEPS);
    plot_point(mean, s->sum / s->count, 0);
    plot_point(mean, s->sum / s->count, 100);
}

void show_fig12(struct reproduce_figure *f)
{
    struct text_table *t = figure_table(f, 1);
    text_table_row(t, "received, % of injection", "seeds", "least", "5 %", "median", "mean", "95 %", "most", "paper");
    struct plot *plot[2]; /* for HammingMeshes, and for the others */
    for (unsigned others = 0; others < 2; others++)
        plot[others] = figure_plot(
            f, others ? "Random permutations, other fabrics (figure 12)" : "Random permutations (figure 12)",
            "receive bandwidth, share of injection (%)", PLOT_LINEAR, PLOT_NUMBER, "hosts that received no more (%)");
    const char *fabrics[REPRODUCE_MOST_FABRICS];
    unsigned count = plan_fabrics(f->plan, fabrics);
    for (unsigned n = 0; n < count; n++) {
        struct sample s = gather(f->plan, fabrics[n]);
        if (s.count) {
            fig12_row(f, t, fabrics[n], &s);
            fig12_curve(plot[!paper_own(fabrics[n])], n, fabrics[n], &s);
        }
        free(s.share);
    }
    figure_annotation(f, "The paper shows this distribution as a plot; values read off a plot are left out.");
    figure_annotation(
        f, "Each accelerator sends one message to a partner of its own, chosen at random by the seed; what it "
           "receives is divided by the time until it has all of it.");
}
