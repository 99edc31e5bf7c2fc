/* messages.c - figures 11 and 12: all-to-all over message sizes, and random permutations. */
#include "base/compare.h"
#include "base/error.h"
#include "tools/reproduce/hammingmesh.h"
#include "tools/reproduce/paper.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- figure 11 ---- */

static const char fig11_columns[] =
    "fabric|fabric|text; message|message_bytes|bytes; share %|share_percent|2; paper %|paper_percent|1; "
    "bound %|bound_percent|2; simulated ms|virtual_seconds|4 x 1e3";

static void fig11_curves(struct reproduce_figure *f, struct plot *p, unsigned n, const char *fabric)
{
    const bool own = paper_own(fabric);
    const char *name = own ? fabric : paper_brief(fabric);
    struct plot_series *ours = plot_add(p, PLOT_LINE, n, "%s", name);
    struct plot_series *bound = plot_add(p, PLOT_DASHES, n, "%s, %s", name, own ? "cut bound" : "bound");
    struct plot_series *paper = plot_add(p, PLOT_DIAMONDS, n, "%s, paper (table II)", name);
    for (const struct reproduce_run *run = NULL; (run = plan_next_of(f->plan, fabric, run));) {
        plot_point(ours, (double)run->bytes, run->share * 100);
        plot_point(bound, (double)run->bytes, run->bound * 100);
    }
    figure_mark(paper, PAPER_MESSAGE, paper_figures_of(fabric)->alltoall);
}

void show_fig11(struct reproduce_figure *f)
{
    struct text_table *t = figure_table(f, 1, fig11_columns);
    struct plot *plot[2]; /* of other fabrics, and of HammingMeshes */
    const char *fabrics[REPRODUCE_MOST_FABRICS];
    unsigned count = plan_fabrics(f->plan, fabrics);
    for (const struct reproduce_run *run = NULL; (run = plan_next_done(f->plan, run));) {
        const double paper = run->bytes == PAPER_MESSAGE ? paper_figures_of(run->fabric)->alltoall : NAN;
        figure_row(f, t, fig11_columns, TEXTS(run->fabric),
                   NUMBERS((double)run->bytes, run->share * 100, paper, run->bound * 100, run->virtual_seconds));
    }
    for (unsigned others = 0; others < 2; others++) {
        plot[!others] = figure_plot(f, "message", PLOT_BINARY, "share of injection (%)",
                                    "All-to-all over message sizes%s (figure 11)", others ? ", other fabrics" : "");
        plot[!others]->x_unit = PLOT_BYTES;
    }
    for (unsigned n = 0; n < count; n++)
        fig11_curves(f, plot[paper_own(fabrics[n])], n, fabrics[n]);
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

static const char fig12_columns[] =
    "received, % of injection|fabric|text; seeds|seeds|count; |accelerators|count; least|least_percent|2; "
    "5 %|p5_percent|2; median|median_percent|2; mean|mean_percent|2; 95 %|p95_percent|2; most|most_percent|2; "
    "paper|paper_percent|2";

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
    struct text_table *t = figure_table(f, 1, fig12_columns);
    struct plot *plot[2]; /* of HammingMeshes, and of others */
    for (unsigned others = 0; others < 2; others++)
        plot[others] =
            figure_plot(f, "receive bandwidth, share of injection (%)", PLOT_LINEAR, "hosts that received no more (%)",
                        "Random permutations%s (figure 12)", others ? ", other fabrics" : "");
    const char *fabrics[REPRODUCE_MOST_FABRICS];
    unsigned count = plan_fabrics(f->plan, fabrics);
    for (unsigned n = 0; n < count; n++) {
        struct sample s = gather(f->plan, fabrics[n]);
        if (s.count) {
            figure_row(f, t, fig12_columns, TEXTS(fabrics[n]),
                       NUMBERS(s.seeds, s.count, s.share[0], quantile(&s, 0.05), quantile(&s, 0.5), s.sum / s.count,
                               quantile(&s, 0.95), s.share[s.count - 1], NAN));
            fig12_curve(plot[!paper_own(fabrics[n])], n, fabrics[n], &s);
        }
        free(s.share);
    }
}
