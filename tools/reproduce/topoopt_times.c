/* topoopt_times.c - figures 11, 27 and 28 of TopoOpt: times of iterations (tools/reproduce/topoopt.h). */
#include "tools/child.h"
#include "tools/reproduce/topoopt.h"
#include "tools/reproduce/topoopt_job.h"

#include <math.h>

static const unsigned rates[] = {10, 25, 40, 100, 200};
enum { RATES = sizeof rates / sizeof *rates };

/* Seconds of an iteration. */
struct times {
    double of[RATES][TOPOOPT_NETWORKS];
};

static void add_result(struct reproduce_figure *f, const struct topoopt_case *c, enum topoopt_network network,
                       double seconds, const struct circuits_time *t)
{
    json_t *row = json_pack("{s:s, s:s, s:i, s:i, s:o}", "job", topoopt_jobs[c->job].name, "network",
                            topoopt_network_names[network], "degree", (int)c->degree, "gbps", (int)c->gbps, "seconds",
                            figure_number(seconds));
    if (t)
        (void)json_object_update_new(row, json_pack("{s:f, s:f, s:f, s:f}", "computing", t->computing, "exchanges",
                                                    t->exchanges, "sums", t->sums, "tax", t->tax));
    figure_result(f, row);
}

/* Times of a job on the networks up to `last`; NAN: interrupted. */
static void time_all(struct reproduce_figure *f, const struct topoopt_case *c, enum topoopt_network last,
                     double seconds[TOPOOPT_NETWORKS])
{
    for (unsigned n = 0; n < TOPOOPT_NETWORKS; n++)
        seconds[n] = NAN;
    for (unsigned n = 0; n <= last && n < TOPOOPT_OCS && !child_interrupted(); n++) {
        struct topoopt_answer a = topoopt_answer(c, n);
        seconds[n] = a.iteration;
        add_result(f, c, n, seconds[n], &a.result.time);
        for (unsigned changing = TOPOOPT_OCS; n == TOPOOPT_IDEAL && changing <= last; changing++) {
            seconds[changing] = topoopt_reconfigure(&a, c, changing);
            add_result(f, c, changing, seconds[changing], NULL);
        }
        topoopt_free(&a);
    }
}

static void note_setting(struct reproduce_figure *f)
{
    figure_annotation(f,
                      "%u servers of four A100, links of 1 us; a search of %u steps for each network. hxmesh topology "
                      "shows one of them.",
                      topoopt_servers(f->plan->effort), topoopt_steps(f->plan->effort));
    figure_annotation(f,
                      "Fat tree: as many interfaces of B, also parts of one, as cost what d interfaces at patch panels "
                      "cost (examples/prices/topoopt.yaml). Ideal switch and 2:1 tree: d B a server.");
}

/* ---- figures 11 and 27 ---- */

static void show_job(struct reproduce_figure *f, unsigned job, unsigned degree, struct times *t)
{
    char title[PLOT_TEXT];
    const char *head[1 + TOPOOPT_NETWORKS];
    struct text_table *table = figure_table(f, 1);
    (void)snprintf(title, sizeof title, "%s, d = %u (Wang et al., %s)", topoopt_jobs[job].name, degree, f->name);
    struct plot *p = figure_plot(f, title, "link (Gb/s)", PLOT_DECADES, PLOT_NUMBER, "iteration (s)");
    p->y_scale = PLOT_DECADES;
    head[0] = title;
    (void)snprintf(title, sizeof title, "%s, ms, by Gb/s", topoopt_jobs[job].name);
    for (unsigned n = 0; n < TOPOOPT_NETWORKS; n++) {
        head[1 + n] = topoopt_network_names[n];
        (void)plot_add(p, n < TOPOOPT_OCS ? PLOT_LINE : PLOT_DASHES, n, "%s", topoopt_network_names[n]);
    }
    text_table_cells(table, 1 + TOPOOPT_NETWORKS, head);
    for (unsigned r = 0; r < RATES; r++) {
        struct cells cells = {0};
        const char *row[1 + TOPOOPT_NETWORKS] = {cell(&cells, 0, rates[r])};
        const struct topoopt_case c = {.job = job,
                                       .degree = degree,
                                       .gbps = rates[r],
                                       .steps = topoopt_steps(f->plan->effort),
                                       .set = {topoopt_set_servers(f->plan->effort)}};
        time_all(f, &c, TOPOOPT_SIP_ML, t->of[r]);
        for (unsigned n = 0; n < TOPOOPT_NETWORKS; n++) {
            row[1 + n] = cell(&cells, 2, 1e3 * t->of[r][n]);
            plot_point(&p->series[n], rates[r], t->of[r][n]);
        }
        text_table_cells(table, 1 + TOPOOPT_NETWORKS, row);
    }
}

static void ratio_row(const struct reproduce_figure *f, struct text_table *table, const char *name,
                      const struct times *t, enum topoopt_network over, enum topoopt_network under, double paper)
{
    struct cells cells = {0};
    const char *row[RATES + 4] = {name};
    double sum = 0, most = 0;
    for (unsigned r = 0; r < RATES; r++) {
        const double ratio = t->of[r][over] / t->of[r][under];
        sum += ratio;
        most = fmax(most, ratio);
        row[1 + r] = cell(&cells, 2, ratio);
    }
    row[1 + RATES] = cell(&cells, 2, sum / RATES);
    row[2 + RATES] = cell(&cells, 2, most);
    row[3 + RATES] = cell(&cells, 1, figure_paper(f, paper));
    text_table_cells(table, RATES + 4, row);
}

/* The paper's ratios are of d = 4. */
static void show_ratios(struct reproduce_figure *f, const struct times *t, unsigned degree)
{
    struct text_table *tree = figure_table(f, 1), *ideal = figure_table(f, 1);
    text_table_row(tree, "fat tree / TopoOpt", "10", "25", "40", "100", "200", "mean", "most", "paper");
    text_table_row(ideal, "TopoOpt / ideal", "10", "25", "40", "100", "200", "mean", "most", "paper");
    for (unsigned job = 0; job < TOPOOPT_JOBS; job++) {
        const struct topoopt_job *j = &topoopt_jobs[job];
        ratio_row(f, tree, j->name, &t[job], TOPOOPT_TREE, TOPOOPT_CIRCUITS, degree == 4 ? j->tree : NAN);
        ratio_row(f, ideal, j->name, &t[job], TOPOOPT_CIRCUITS, TOPOOPT_IDEAL, degree == 4 ? j->ideal : NAN);
    }
}

static void show_times(struct reproduce_figure *f, unsigned degree)
{
    struct times t[TOPOOPT_JOBS];
    child_catch_signals();
    for (unsigned job = 0; job < TOPOOPT_JOBS; job++)
        show_job(f, job, degree, &t[job]);
    show_ratios(f, t, degree);
    note_setting(f);
    figure_annotation(f, "OCS-reconfig and SiP-ML: the ideal switch's strategy. OCS-reconfig: each 50 ms, 10 ms dark, "
                         "servers forward. SiP-ML: when demand has changed, 100 us after the last change at the "
                         "earliest, 25 us dark, no forwarding.");
}

void show_topoopt_times_4(struct reproduce_figure *f)
{
    show_times(f, 4);
}

void show_topoopt_times_8(struct reproduce_figure *f)
{
    show_times(f, 8);
}

/* ---- figure 28 ---- */

void show_topoopt_degree(struct reproduce_figure *f)
{
    static const unsigned degrees[] = {4, 6, 8, 10}, gbps[] = {40, 100};
    enum { DEGREES = sizeof degrees / sizeof *degrees, SPEEDS = sizeof gbps / sizeof *gbps };
    struct text_table *table = figure_table(f, 1);
    struct plot *p = figure_plot(f, "DLRM by degree (Wang et al., figure 28)", "interfaces of a server", PLOT_LINEAR,
                                 PLOT_NUMBER, "iteration (ms)");
    child_catch_signals();
    text_table_row(table, "DLRM, ms", "d = 4", "6", "8", "10", "4 / 10");
    for (unsigned g = 0; g < SPEEDS; g++) {
        double seconds[DEGREES][TOPOOPT_NETWORKS];
        for (unsigned d = 0; d < DEGREES; d++) {
            const struct topoopt_case c = {.job = TOPOOPT_DLRM,
                                           .degree = degrees[d],
                                           .gbps = gbps[g],
                                           .steps = topoopt_steps(f->plan->effort),
                                           .set = {topoopt_set_servers(f->plan->effort)}};
            time_all(f, &c, TOPOOPT_TREE, seconds[d]);
        }
        for (unsigned n = 0; n <= TOPOOPT_TREE; n++) {
            char name[PLOT_TEXT];
            struct cells cells = {0};
            const char *row[DEGREES + 2] = {name};
            (void)snprintf(name, sizeof name, "%s, %u Gb/s", topoopt_network_names[n], gbps[g]);
            struct plot_series *line = plot_add(p, PLOT_LINE, g * (TOPOOPT_TREE + 1) + n, "%s", name);
            for (unsigned d = 0; d < DEGREES; d++) {
                row[1 + d] = cell(&cells, 2, 1e3 * seconds[d][n]);
                plot_point(line, degrees[d], 1e3 * seconds[d][n]);
            }
            row[1 + DEGREES] = cell(&cells, 2, seconds[0][n] / seconds[DEGREES - 1][n]);
            text_table_cells(table, DEGREES + 2, row);
        }
    }
    note_setting(f);
}
