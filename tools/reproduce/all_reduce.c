/* all_reduce.c - figures 13 and 17: all-reduce by several algorithms over vector sizes. */
#include "tools/reproduce/figure.h"
#include "tools/reproduce/paper.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *algorithm, *name;
} algorithms[] = {{"rings", "two rings"}, {"ring", "one ring"}, {"torus", "torus"}, {"tree", "tree"}};
enum { ALGORITHMS = sizeof algorithms / sizeof *algorithms };

static void table(struct reproduce_figure *f)
{
    struct text_table *t = figure_table(f, 2);
    text_table_row(t, "fabric", "algorithm", "vector", "share %", "closed form %", "simulated ms", "GB/s");
    for (const struct reproduce_run *run = NULL; (run = plan_next_done(f->plan, run));) {
        double model = paper_all_reduce_share(run->fabric, run->algorithm, run->bytes) * 100;
        double rate = (double)run->bytes / run->virtual_seconds / 1e9;
        struct cells c = {0};
        text_table_row(t, run->fabric, run->algorithm, cell_bytes(&c, run->bytes), cell(&c, 2, run->share * 100),
                       cell(&c, 2, model), cell(&c, 4, run->virtual_seconds * 1e3), cell(&c, 2, rate));
        figure_result(f,
                      json_pack("{s:s, s:s, s:I, s:f, s:o, s:f}", "fabric", run->fabric, "algorithm", run->algorithm,
                                "vector_bytes", (json_int_t)run->bytes, "share_percent", run->share * 100,
                                "closed_form_percent", figure_number(model), "virtual_seconds", run->virtual_seconds));
    }
}

/* Adds the closed form, from the least vector of the plan to PAPER_LARGE_VECTOR (quick: 64 times the least). */
static void add_model(struct plot *p, const struct reproduce_figure *f, unsigned a, const char *fabric)
{
    uint64_t least = UINT64_MAX;
    for (unsigned i = 0; i < f->plan->count; i++)
        least = f->plan->run[i].bytes < least ? f->plan->run[i].bytes : least;
    uint64_t most = f->plan->effort == REPRODUCE_QUICK ? 64 * least : PAPER_LARGE_VECTOR;
    struct plot_series *model = plot_add(p, PLOT_DASHES, a, "%s, closed form", algorithms[a].name);
    for (uint64_t bytes = least; bytes <= most; bytes *= 2)
        plot_point(model, (double)bytes, paper_all_reduce_share(fabric, algorithms[a].algorithm, bytes) * 100);
}

static void plot_of(struct reproduce_figure *f, const char *fabric)
{
    char title[PLOT_TEXT];
    (void)snprintf(title, sizeof title, "All-reduce on %s (figure %s)", fabric, f->name + strlen("fig"));
    struct plot *p =
        figure_plot(f, title, "vector", PLOT_BINARY, PLOT_BYTES, "share of half of the injection bandwidth (%)");
    for (unsigned a = 0; a < ALGORITHMS; a++) {
        struct plot_series *ours = plot_add(p, PLOT_LINE, a, "%s", algorithms[a].name);
        for (const struct reproduce_run *run = NULL; (run = plan_next_of(f->plan, fabric, run));) {
            if (strcmp(run->algorithm, algorithms[a].algorithm) == 0)
                plot_point(ours, (double)run->bytes, run->share * 100);
        }
        add_model(p, f, a, fabric);
    }
    double value = paper_figures_of(fabric)->allreduce;
    if (isfinite(value))
        plot_point(plot_add(p, PLOT_DIAMONDS, ALGORITHMS, "paper (table II), large vectors"),
                   (double)PAPER_LARGE_VECTOR, value);
}

/* One line for each fabric. */
static void plot_of_others(struct reproduce_figure *f, const char *const *fabrics, unsigned count)
{
    struct plot *p = figure_plot(f, "All-reduce on other fabrics (figure 13)", "vector", PLOT_BINARY, PLOT_BYTES,
                                 "share of half of the injection bandwidth (%)");
    for (unsigned n = 0; n < count; n++) {
        if (paper_own(fabrics[n]))
            continue;
        struct plot_series *ours = plot_add(p, PLOT_LINE, n, "%s", paper_brief(fabrics[n]));
        for (const struct reproduce_run *run = NULL; (run = plan_next_of(f->plan, fabrics[n], run));)
            plot_point(ours, (double)run->bytes, run->share * 100);
        double value = paper_figures_of(fabrics[n])->allreduce;
        if (isfinite(value))
            plot_point(plot_add(p, PLOT_DIAMONDS, n, "%s, paper (table II)", paper_brief(fabrics[n])),
                       (double)PAPER_LARGE_VECTOR, value);
    }
}

void show_all_reduce(struct reproduce_figure *f)
{
    table(f);
    const char *fabrics[REPRODUCE_MOST_FABRICS];
    unsigned count = plan_fabrics(f->plan, fabrics);
    bool others = false;
    for (unsigned n = 0; n < count; n++) {
        if (paper_own(fabrics[n]))
            plot_of(f, fabrics[n]);
        else
            others = true;
    }
    if (others)
        plot_of_others(f, fabrics, count);
    figure_annotation(
        f, "Share: vector bytes a second over half of 4 x 400 Gb/s, since every byte has to leave an accelerator "
           "nearly twice.");
    if (others)
        figure_annotation(f,
                          "Other fabrics: one ring in the order of the hosts; the torus, with four links a host, two.");
    figure_annotation(f,
                      "Closed form: section V-A2, of HammingMeshes, with the latency between neighbours that follows "
                      "from table III.");
    figure_annotation(
        f, "Paper: table II has one value for large vectors, drawn here at 4 GiB; the other points of the figure "
           "are plotted curves; values read off a plot are left out.");
}
