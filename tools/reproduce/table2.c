/* table2.c - table II: all-to-all and all-reduce bandwidth, diameter and cost of the paper's clusters. */
#include "spec/spec.h"
#include "tools/reproduce/figure.h"
#include "tools/reproduce/paper.h"
#include "topology/bounds.h"

#include <math.h>
#include <string.h>

/* The run of the fabric with the highest share; NULL: none. */
static const struct reproduce_run *best(const struct reproduce_plan *p, const char *fabric, bool collective)
{
    const struct reproduce_run *found = NULL;
    for (const struct reproduce_run *run = NULL; (run = plan_next_of(p, fabric, run));)
        if ((run->algorithm != NULL) == collective && (!found || run->share > found->share))
            found = run;
    return found;
}

static double percent(const struct reproduce_run *run)
{
    return run ? run->share * 100 : NAN;
}

static void fabric_row(struct reproduce_figure *f, struct text_table *t, const char *fabric)
{
    const struct paper_figures *paper = paper_figures_of(fabric);
    const struct reproduce_run *messages = best(f->plan, fabric, false);
    const struct reproduce_run *vector = best(f->plan, fabric, true);
    struct hx_spec spec;
    hx_spec_load(fabric, NULL, &spec);
    double bound = hx_fabric_alltoall_bound(spec.graph) * 100;
    unsigned diameter = hx_fabric_distances(spec.graph).diameter;
    double ms = messages && !messages->shifts && !messages->duration ? messages->virtual_seconds * 1e3 : NAN;
    hx_spec_free(&spec);
    double cost = paper_bought_musd(fabric);
    struct cells c = {0};
    text_table_row(t, fabric, cell(&c, 2, percent(messages)), cell(&c, 1, paper->alltoall), cell(&c, 2, bound),
                   cell(&c, 4, ms), cell(&c, 4, paper->alltoall_ms), cell(&c, 2, percent(vector)),
                   cell(&c, 1, paper->allreduce), cell(&c, 0, diameter), cell(&c, 2, cost),
                   cell(&c, paper->cost_musd < 100 ? 1 : 0, paper->cost_musd));
    figure_result(f, json_pack("{s:s, s:o, s:o, s:f, s:I, s:o, s:o, s:o, s:o, s:i, s:f, s:o}", "fabric", fabric,
                               "alltoall_percent", figure_number(percent(messages)), "alltoall_paper_percent",
                               figure_number(paper->alltoall), "alltoall_bound_percent", bound, "alltoall_shifts",
                               (json_int_t)(messages ? messages->shifts : 0), "alltoall_ms", figure_number(ms),
                               "alltoall_authors_ms", figure_number(paper->alltoall_ms), "allreduce_percent",
                               figure_number(percent(vector)), "allreduce_paper_percent",
                               figure_number(paper->allreduce), "diameter", (int)diameter, "cost_musd", cost,
                               "cost_paper_musd", figure_number(paper->cost_musd)));
}

static void vector_table(struct reproduce_figure *f)
{
    struct text_table *t = figure_table(f, 2);
    text_table_row(t, "all-reduce on", "algorithm", "vector", "share %", "closed form %", "simulated ms");
    for (const struct reproduce_run *run = NULL; (run = plan_next_done(f->plan, run));) {
        struct cells c = {0};
        if (run->algorithm)
            text_table_row(t, run->fabric, run->algorithm, cell_bytes(&c, run->bytes), cell(&c, 2, percent(run)),
                           cell(&c, 2, paper_all_reduce_share(run->fabric, run->algorithm, run->bytes) * 100),
                           cell(&c, 4, run->virtual_seconds * 1e3));
    }
}

static unsigned hosts_of(const char *fabric)
{
    struct hx_spec spec;
    hx_spec_load(fabric, NULL, &spec);
    unsigned hosts = spec.graph->hosts;
    hx_spec_free(&spec);
    return hosts;
}

static void bars(struct reproduce_figure *f, const char *title, const char *const *fabrics, unsigned count)
{
    struct plot *p =
        figure_plot(f, title, "fabric", PLOT_LINEAR, PLOT_NUMBER, "share of injection, or of half of it (%)");
    struct plot_series *messages = plot_add(p, PLOT_BARS, 0, "all-to-all, of injection");
    struct plot_series *vectors = plot_add(p, PLOT_BARS, 2, "all-reduce, of half of it");
    struct plot_series *bound = plot_add(p, PLOT_LIMITS, 0, "all-to-all, cut bound");
    struct plot_series *paper_messages = plot_add(p, PLOT_DIAMONDS, 0, "all-to-all, paper");
    struct plot_series *paper_vectors = plot_add(p, PLOT_DIAMONDS, 2, "all-reduce, paper");
    for (unsigned n = 0; n < count; n++) {
        const struct reproduce_run *of_messages = best(f->plan, fabrics[n], false);
        double left = n - p->bar_width * 0.6;
        double right = n + p->bar_width * 0.6;
        plot_category(p, paper_brief(fabrics[n]));
        plot_point(messages, left, percent(of_messages));
        plot_point(bound, left, of_messages ? of_messages->bound * 100 : NAN);
        plot_point(vectors, right, percent(best(f->plan, fabrics[n], true)));
        double paper_share = paper_figures_of(fabrics[n])->alltoall;
        double paper_vector = paper_figures_of(fabrics[n])->allreduce;
        if (isfinite(paper_share))
            plot_point(paper_messages, left, paper_share);
        if (isfinite(paper_vector))
            plot_point(paper_vectors, right, paper_vector);
    }
}

/* Plots the small cluster's fabrics, and separately those with more than twice as many hosts. */
static void plots(struct reproduce_figure *f, const char *const *fabrics, unsigned count)
{
    const char *cluster[2][REPRODUCE_MOST_FABRICS] = {{NULL}};
    unsigned counts[2] = {0, 0};
    for (unsigned n = 0; n < count; n++) {
        bool large = hosts_of(fabrics[n]) > 2 * hosts_of(fabrics[0]);
        cluster[large][counts[large]++] = fabrics[n];
    }
    bars(f, "Bandwidth of the small cluster (table II)", cluster[0], counts[0]);
    bars(f, "Bandwidth of the large cluster (table II)", cluster[1], counts[1]);
}

/* Names the fabrics with an all-to-all that is a sample of `shifts` shifts. */
static void annotation_sample(struct reproduce_figure *f, const char *const *fabrics, unsigned count, uint64_t shifts)
{
    char names[FIGURE_ANNOTATION] = "";
    size_t used = 0;
    for (unsigned n = 0; n < count; n++) {
        const struct reproduce_run *run = best(f->plan, fabrics[n], false);
        if (run && run->shifts == shifts && used < sizeof names)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", fabrics[n]);
    }
    figure_annotation(f, "%s: all-to-all over a random sample of %u shifts, chosen by seed 1.", names,
                      (unsigned)shifts);
}

static void annotation_samples(struct reproduce_figure *f, const char *const *fabrics, unsigned count)
{
    uint64_t last = 0;
    for (unsigned n = 0; n < count; n++) {
        const struct reproduce_run *run = best(f->plan, fabrics[n], false);
        if (run && run->shifts > last)
            annotation_sample(f, fabrics, count, last = run->shifts);
    }
}

static void annotations(struct reproduce_figure *f, const char *const *fabrics, unsigned count)
{
    annotation_samples(f, fabrics, count);
    figure_annotation(
        f, "All-to-all of the large cluster's other fabrics: all send to their shifts for as long as --duration "
           "says, and what arrives after --warm-up counts, the fabric being full.");
    if (f->plan->effort != REPRODUCE_QUICK) {
        figure_annotation(
            f,
            "Tapered fat trees are simulated with 32 hosts and 16 or 8 uplinks a leaf, as the paper did; their cost is "
            "that of the trees it bought, with 42 and 22, and 51 and 13, for which it also counts copper cables at "
            "leaf "
            "ports that have no host.");
        figure_annotation(f, "The torus sends 32 KiB to each host by default, 1 MiB with --full.");
        figure_annotation(
            f, "32x32 Hx1Mesh: the paper's 91.6 %% comes from its simulator's own HyperX model and cannot be had on "
               "this wiring: two of four links serve a dimension, which bounds all-to-all at 51.6 %%. Likewise "
               "its 95.8 %% and the 128x128 Hx1Mesh's 50.4 %%.");
        figure_annotation(f, "Authors' ms: the end of that all-to-all in their published runs, one plane.");
        figure_annotation(
            f, "The paper's all-reduce is for large vectors, of 4 GiB on the large cluster; here it is the best of "
               "the runs in the second table.");
    }
    figure_annotation(
        f, "All-to-all is a share of what a host's links inject into the plane that is simulated; all-reduce "
           "of half of it. "
           "Diameter in cables, the hosts' own included; cost of all planes (appendix C).");
}

void show_table2(struct reproduce_figure *f)
{
    struct text_table *t = figure_table(f, 1);
    text_table_row(t, "fabric", "a2a %", "paper", "bound", "a2a ms", "authors", "all-reduce %", "paper", "diameter",
                   "M$", "paper");
    const char *fabrics[REPRODUCE_MOST_FABRICS];
    unsigned count = plan_fabrics(f->plan, fabrics);
    for (unsigned n = 0; n < count; n++)
        fabric_row(f, t, fabrics[n]);
    vector_table(f);
    plots(f, fabrics, count);
    annotations(f, fabrics, count);
}
