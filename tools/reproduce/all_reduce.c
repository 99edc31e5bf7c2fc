/* all_reduce.c - figures 13 and 17: all-reduce by several algorithms over vector sizes. */
#include "tools/reproduce/hammingmesh.h"
#include "tools/reproduce/paper.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *algorithm, *name;
} algorithms[] = {{"rings", "two rings"}, {"ring", "one ring"}, {"torus", "torus"}, {"tree", "tree"}};
enum { ALGORITHMS = sizeof algorithms / sizeof *algorithms };

static const char share[] = "share of half of the injection bandwidth (%)";

static const char columns[] =
    "fabric|fabric|text; algorithm|algorithm|text; vector|vector_bytes|bytes; share %|share_percent|2; "
    "closed form %|closed_form_percent|2; simulated ms|virtual_seconds|4 x 1e3; GB/s||2";

static void table(struct reproduce_figure *f)
{
    struct text_table *t = figure_table(f, 2, columns);
    for (const struct reproduce_run *run = NULL; (run = plan_next_done(f->plan, run));)
        figure_row(f, t, columns, TEXTS(run->fabric, run->algorithm),
                   NUMBERS((double)run->bytes, run->share * 100,
                           paper_all_reduce_share(run->fabric, run->algorithm, run->bytes) * 100, run->virtual_seconds,
                           (double)run->bytes / run->virtual_seconds / 1e9));
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

/* A HammingMesh: a line for each algorithm. */
static void plot_of(struct reproduce_figure *f, const char *fabric)
{
    struct plot *p =
        figure_plot(f, "vector", PLOT_BINARY, share, "All-reduce on %s (figure %s)", fabric, f->name + strlen("fig"));
    p->x_unit = PLOT_BYTES;
    for (unsigned a = 0; a < ALGORITHMS; a++) {
        struct plot_series *ours = plot_add(p, PLOT_LINE, a, "%s", algorithms[a].name);
        for (const struct reproduce_run *run = NULL; (run = plan_next_of(f->plan, fabric, run));) {
            if (strcmp(run->algorithm, algorithms[a].algorithm) == 0)
                plot_point(ours, (double)run->bytes, run->share * 100);
        }
        add_model(p, f, a, fabric);
    }
    const double value = paper_figures_of(fabric)->allreduce;
    if (isfinite(value))
        plot_point(plot_add(p, PLOT_DIAMONDS, ALGORITHMS, "paper (table II), large vectors"),
                   (double)PAPER_LARGE_VECTOR, value);
}

/* Another fabric: one line. */
static void plot_other(struct reproduce_figure *f, struct plot *p, unsigned n, const char *fabric)
{
    struct plot_series *ours = plot_add(p, PLOT_LINE, n, "%s", paper_brief(fabric));
    for (const struct reproduce_run *run = NULL; (run = plan_next_of(f->plan, fabric, run));)
        plot_point(ours, (double)run->bytes, run->share * 100);
    const double value = paper_figures_of(fabric)->allreduce;
    if (isfinite(value))
        plot_point(plot_add(p, PLOT_DIAMONDS, n, "%s, paper (table II)", paper_brief(fabric)),
                   (double)PAPER_LARGE_VECTOR, value);
}

void show_all_reduce(struct reproduce_figure *f)
{
    const char *fabrics[REPRODUCE_MOST_FABRICS];
    unsigned count = plan_fabrics(f->plan, fabrics);
    struct plot *others = NULL;
    table(f);
    for (unsigned n = 0; n < count; n++)
        if (paper_own(fabrics[n]))
            plot_of(f, fabrics[n]);
    for (unsigned n = 0; n < count; n++) {
        if (paper_own(fabrics[n]))
            continue;
        if (!others)
            others = figure_plot(f, "vector", PLOT_BINARY, share, "All-reduce on other fabrics (figure 13)");
        others->x_unit = PLOT_BYTES;
        plot_other(f, others, n, fabrics[n]);
    }
}
