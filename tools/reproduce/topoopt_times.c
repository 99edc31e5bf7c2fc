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

static const char columns[] = "|job|text; |network|text; |degree|count; |gbps|count; |seconds|9";
static const char parts[] = "|computing|9; |exchanges|9; |sums|9; |tax|3";

static json_t *add_result(struct reproduce_figure *f, const struct topoopt_case *c, enum topoopt_network network,
                          double seconds)
{
    return figure_row(f, NULL, columns, TEXTS(topoopt_jobs[c->job].name, topoopt_network_names[network]),
                      NUMBERS(c->degree, c->gbps, seconds));
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
        const struct circuits_time *t = &a.result.time;
        figure_keys(add_result(f, c, n, seconds[n]), parts, NULL, NUMBERS(t->computing, t->exchanges, t->sums, t->tax));
        for (unsigned changing = TOPOOPT_OCS; n == TOPOOPT_IDEAL && changing <= last; changing++) {
            seconds[changing] = topoopt_reconfigure(&a, c, changing);
            (void)add_result(f, c, changing, seconds[changing]);
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

static struct topoopt_case case_of(const struct reproduce_figure *f, unsigned job, unsigned degree, unsigned gbps)
{
    return (struct topoopt_case){.job = job,
                                 .degree = degree,
                                 .gbps = gbps,
                                 .steps = topoopt_steps(f->plan->effort),
                                 .set = {topoopt_set_servers(f->plan->effort)}};
}

static void show_job(struct reproduce_figure *f, unsigned job, unsigned degree, struct times *t)
{
    char text[PLOT_TEXT];
    struct plot *p = figure_plot(f, "link (Gb/s)", PLOT_DECADES, "iteration (s)", "%s, d = %u (Wang et al., %s)",
                                 topoopt_jobs[job].name, degree, f->name);
    p->y_scale = PLOT_DECADES;
    for (unsigned n = 0; n < TOPOOPT_NETWORKS; n++)
        (void)plot_add(p, n < TOPOOPT_OCS ? PLOT_LINE : PLOT_DASHES, n, "%s", topoopt_network_names[n]);
    (void)snprintf(text, sizeof text, "%s, ms, by Gb/s", topoopt_jobs[job].name);
    struct text_table *table = figure_matrix(f, text, TOPOOPT_NETWORKS, topoopt_network_names);
    for (unsigned r = 0; r < RATES; r++) {
        double ms[TOPOOPT_NETWORKS];
        const struct topoopt_case c = case_of(f, job, degree, rates[r]);
        time_all(f, &c, TOPOOPT_SIP_ML, t->of[r]);
        for (unsigned n = 0; n < TOPOOPT_NETWORKS; n++) {
            ms[n] = 1e3 * t->of[r][n];
            plot_point(&p->series[n], rates[r], t->of[r][n]);
        }
        (void)snprintf(text, sizeof text, "%u", rates[r]);
        figure_numbers(table, text, 2, TOPOOPT_NETWORKS, ms);
    }
}

/* By rate, their mean, their most, and the paper's. */
#define RATIOS "||text; 10||2; 25||2; 40||2; 100||2; 200||2; mean||2; most||2; paper||1"
static const char over_topoopt[] = "fat tree / TopoOpt" RATIOS;
static const char over_ideal[] = "TopoOpt / ideal" RATIOS;

static void ratio_row(struct reproduce_figure *f, struct text_table *table, const char *name, const struct times *t,
                      enum topoopt_network over, enum topoopt_network under, double paper)
{
    double number[RATES + 3], sum = 0, most = 0;
    for (unsigned r = 0; r < RATES; r++) {
        number[r] = t->of[r][over] / t->of[r][under];
        sum += number[r];
        most = fmax(most, number[r]);
    }
    number[RATES] = sum / RATES;
    number[RATES + 1] = most;
    number[RATES + 2] = figure_paper(f, paper);
    figure_row(f, table, over_topoopt, TEXTS(name), number);
}

/* The paper's ratios are of d = 4. */
static void show_ratios(struct reproduce_figure *f, const struct times *t, unsigned degree)
{
    struct text_table *tree = figure_table(f, 1, over_topoopt), *ideal = figure_table(f, 1, over_ideal);
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
    static const char *const head[] = {"d = 4", "6", "8", "10", "4 / 10"};
    enum { DEGREES = sizeof degrees / sizeof *degrees, SPEEDS = sizeof gbps / sizeof *gbps };
    struct text_table *table = figure_matrix(f, "DLRM, ms", DEGREES + 1, head);
    struct plot *p = figure_plot(f, "interfaces of a server", PLOT_LINEAR, "iteration (ms)",
                                 "DLRM by degree (Wang et al., figure 28)");
    child_catch_signals();
    for (unsigned g = 0; g < SPEEDS; g++) {
        double seconds[DEGREES][TOPOOPT_NETWORKS];
        for (unsigned d = 0; d < DEGREES; d++) {
            const struct topoopt_case c = case_of(f, TOPOOPT_DLRM, degrees[d], gbps[g]);
            time_all(f, &c, TOPOOPT_TREE, seconds[d]);
        }
        for (unsigned n = 0; n <= TOPOOPT_TREE; n++) {
            double number[DEGREES + 1];
            struct plot_series *line =
                plot_add(p, PLOT_LINE, g * (TOPOOPT_TREE + 1) + n, "%s, %u Gb/s", topoopt_network_names[n], gbps[g]);
            for (unsigned d = 0; d < DEGREES; d++) {
                number[d] = 1e3 * seconds[d][n];
                plot_point(line, degrees[d], number[d]);
            }
            number[DEGREES] = seconds[0][n] / seconds[DEGREES - 1][n];
            figure_numbers(table, line->name, 2, DEGREES + 1, number);
        }
    }
    note_setting(f);
}
