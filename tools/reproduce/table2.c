/* table2.c - table II: all-to-all and all-reduce bandwidth, diameter and cost of the paper's clusters. */
#include "spec/spec.h"
#include "tools/reproduce/hammingmesh.h"
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

static const char columns[] =
    "fabric|fabric|text; a2a %|alltoall_percent|2; paper|alltoall_paper_percent|1; bound|alltoall_bound_percent|2; "
    "|alltoall_shifts|count; a2a ms|alltoall_ms|4; authors|alltoall_authors_ms|4; all-reduce %|allreduce_percent|2; "
    "paper|allreduce_paper_percent|1; diameter|diameter|count; M$|cost_musd|2; paper|cost_paper_musd|short";

/* Returns the fabric's hosts. */
static unsigned fabric_row(struct reproduce_figure *f, struct text_table *t, const char *fabric)
{
    const struct paper_figures *paper = paper_figures_of(fabric);
    const struct reproduce_run *messages = best(f->plan, fabric, false);
    double shifts = 0;
    double ms = NAN; /* of a whole all-to-all */
    if (messages) {
        shifts = (double)messages->shifts;
        ms = !messages->shifts && !messages->duration ? messages->virtual_seconds * 1e3 : NAN;
    }
    struct hx_spec spec;
    hx_spec_load(fabric, NULL, &spec);
    figure_row(f, t, columns, TEXTS(fabric),
               NUMBERS(percent(messages), paper->alltoall, hx_fabric_alltoall_bound(spec.graph) * 100, shifts, ms,
                       paper->alltoall_ms, percent(best(f->plan, fabric, true)), paper->allreduce,
                       hx_fabric_distances(spec.graph).diameter, paper_bought_musd(fabric), paper->cost_musd));
    const unsigned hosts = spec.graph->hosts;
    hx_spec_free(&spec);
    return hosts;
}

static const char vector_columns[] =
    "all-reduce on||text; algorithm||text; vector||bytes; share %||2; closed form %||2; simulated ms||4";

static void vector_table(struct reproduce_figure *f)
{
    struct text_table *t = figure_table(f, 2, vector_columns);
    for (const struct reproduce_run *run = NULL; (run = plan_next_done(f->plan, run));)
        if (run->algorithm)
            figure_row(f, t, vector_columns, TEXTS(run->fabric, run->algorithm),
                       NUMBERS((double)run->bytes, percent(run),
                               paper_all_reduce_share(run->fabric, run->algorithm, run->bytes) * 100,
                               run->virtual_seconds * 1e3));
}

static void bars(struct reproduce_figure *f, const char *cluster, const char *const *fabrics, unsigned count)
{
    struct plot *p = figure_plot(f, "fabric", PLOT_LINEAR, "share of injection, or of half of it (%)",
                                 "Bandwidth of the %s cluster (table II)", cluster);
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
        figure_mark(paper_messages, left, paper_figures_of(fabrics[n])->alltoall);
        figure_mark(paper_vectors, right, paper_figures_of(fabrics[n])->allreduce);
    }
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

static const char *const fixed_time[] = {
    "All-to-all of the large cluster's other fabrics: all send to their shifts for as long as --duration says, and "
    "what arrives after --warm-up counts, the fabric being full.",
    NULL};
static const char *const of_paper_sizes[] = {
    "Tapered fat trees are simulated with 32 hosts and 16 or 8 uplinks a leaf, as the paper did; their cost is that of "
    "the trees it bought, with 42 and 22, and 51 and 13, for which it also counts copper cables at leaf ports that "
    "have no host.",
    "The torus sends 32 KiB to each host by default, 1 MiB with --full.",
    "32x32 Hx1Mesh: the paper's 91.6 % comes from its simulator's own HyperX model and cannot be had on this wiring: "
    "two of four links serve a dimension, which bounds all-to-all at 51.6 %. Likewise its 95.8 % and the 128x128 "
    "Hx1Mesh's 50.4 %.",
    "Authors' ms: the end of that all-to-all in their published runs, one plane.",
    "The paper's all-reduce is for large vectors, of 4 GiB on the large cluster; here it is the best of the runs in "
    "the second table.",
    NULL};
static const char *const units[] = {
    "All-to-all is a share of what a host's links inject into the plane that is simulated; all-reduce of half of it. "
    "Diameter in cables, the hosts' own included; cost of all planes (appendix C).",
    NULL};

static void annotations(struct reproduce_figure *f, const char *const *fabrics, unsigned count)
{
    uint64_t last = 0;
    for (unsigned n = 0; n < count; n++) {
        const struct reproduce_run *run = best(f->plan, fabrics[n], false);
        if (run && run->shifts > last)
            annotation_sample(f, fabrics, count, last = run->shifts);
    }
    figure_notes(f, fixed_time);
    if (f->plan->effort != REPRODUCE_QUICK)
        figure_notes(f, of_paper_sizes);
    figure_notes(f, units);
}

/* Plots have the small cluster's fabrics, and separately those with more than twice as many hosts. */
void show_table2(struct reproduce_figure *f)
{
    struct text_table *t = figure_table(f, 1, columns);
    const char *fabrics[REPRODUCE_MOST_FABRICS], *cluster[2][REPRODUCE_MOST_FABRICS] = {{NULL}};
    unsigned count = plan_fabrics(f->plan, fabrics), counts[2] = {0, 0}, hosts_of_first = 0;
    for (unsigned n = 0; n < count; n++) {
        const unsigned hosts = fabric_row(f, t, fabrics[n]);
        hosts_of_first = n ? hosts_of_first : hosts;
        const bool large = hosts > 2 * hosts_of_first;
        cluster[large][counts[large]++] = fabrics[n];
    }
    vector_table(f);
    bars(f, "small", cluster[0], counts[0]);
    bars(f, "large", cluster[1], counts[1]);
    annotations(f, fabrics, count);
}
