/* topoopt_reconfigure.c - figure 17 of TopoOpt: circuits that change, by dark time (tools/reproduce/topoopt.h). */
#include "tools/child.h"
#include "tools/circuits/reconfigure.h"
#include "tools/reproduce/topoopt.h"
#include "tools/reproduce/topoopt_job.h"

#include <math.h>

enum { DEGREE = 8, GBPS = 100, NAME = 48 };
static const double dark_us[] = {1, 10, 100, 1000, 10000};
enum { TIMES = sizeof dark_us / sizeof *dark_us };
static const unsigned jobs[] = {TOPOOPT_DLRM, TOPOOPT_BERT, TOPOOPT_CANDLE, TOPOOPT_VGG};
enum { JOBS = sizeof jobs / sizeof *jobs };

/* When a controller looks at the demand. */
enum { EAGER, PERIODIC, CONTROLLERS };
static const struct controller {
    const char *name;
    double darks;  /* dark times between two looks; 0: `period` */
    double period; /* seconds */
} controllers[CONTROLLERS] = {[EAGER] = {"on change", 4, 0}, [PERIODIC] = {"each 50 ms", 0, 50e-3}};

static const double paper_1us = 1; /* over TopoOpt, without forwarding */

/* A job of the figure, on the circuits of TopoOpt, and with the strategy for an ideal switch. */
struct subject {
    struct topoopt_answer fixed, ideal;
    struct circuits first; /* at the begin */
};

static struct reconfigure how_of(const struct controller *c, double dark, bool forwards)
{
    return (struct reconfigure){.gbps = GBPS,
                                .latency = TOPOOPT_LATENCY_NS * 1e-9,
                                .dark = dark,
                                .period = c->darks > 0 ? c->darks * dark : c->period,
                                .eager = c->darks > 0,
                                .forwards = forwards,
                                .discount = 0.5};
}

/* Iterations that cover some looks of a periodic controller. */
static unsigned iterations_of(const struct subject *s, const struct controller *c)
{
    enum { LOOKS = 4, MOST = 8 };
    return c->darks > 0 ? 1 : (unsigned)fmin(MOST, ceil(LOOKS * c->period / s->ideal.iteration));
}

static void show_row(struct reproduce_figure *f, struct text_table *t, const struct subject *s,
                     const struct controller *c, bool forwards, struct plot_series *line)
{
    char name[NAME];
    struct cells cells = {0};
    const char *job = s->fixed.m->name;
    const char *row[TIMES + 4] = {name, cell(&cells, 2, 1e3 * s->fixed.iteration)};
    double over = NAN;
    (void)snprintf(name, sizeof name, "%s, %s", job, forwards ? "forwarding" : "none");
    for (unsigned i = 0; i < TIMES && !child_interrupted(); i++) {
        const struct reconfigure how = how_of(c, dark_us[i] * 1e-6, forwards);
        const struct reconfigured r = reconfigure_run(&s->ideal.result.demand, &s->first, &how, iterations_of(s, c));
        row[2 + i] = cell(&cells, 2, 1e3 * r.iteration);
        over = i == 0 ? r.iteration / s->fixed.iteration : over;
        plot_point(line, dark_us[i], r.iteration / s->fixed.iteration);
        figure_result(f, json_pack("{s:s, s:s, s:b, s:f, s:f, s:f, s:i, s:i}", "job", job, "controller", c->name,
                                   "forwards", forwards, "dark", how.dark, "seconds", r.iteration, "topoopt_seconds",
                                   s->fixed.iteration, "looks", (int)r.looks, "changes", (int)r.changes));
    }
    for (unsigned i = 0; i < TIMES; i++)
        row[2 + i] = row[2 + i] ? row[2 + i] : "";
    row[2 + TIMES] = cell(&cells, 2, over);
    row[3 + TIMES] = cell(&cells, 1, figure_paper(f, !forwards && c->darks > 0 ? paper_1us : NAN));
    text_table_cells(t, TIMES + 4, row);
}

static struct subject subject_of(unsigned job, enum reproduce_effort effort)
{
    const struct topoopt_case c = {.job = job,
                                   .degree = DEGREE,
                                   .gbps = GBPS,
                                   .steps = topoopt_steps(effort),
                                   .set = {topoopt_set_servers(effort)}};
    struct subject s = {.fixed = topoopt_answer(&c, TOPOOPT_CIRCUITS), .ideal = topoopt_answer(&c, TOPOOPT_IDEAL)};
    s.first = topoopt_random_circuits(topoopt_servers(effort), DEGREE);
    return s;
}

static void free_subject(struct subject *s)
{
    topoopt_free(&s->fixed);
    topoopt_free(&s->ideal);
    circuits_free(&s->first);
}

void show_topoopt_reconfigure(struct reproduce_figure *f)
{
    struct text_table *table[CONTROLLERS];
    struct plot *plot[CONTROLLERS];
    child_catch_signals();
    for (unsigned c = 0; c < CONTROLLERS; c++) {
        char title[PLOT_TEXT];
        (void)snprintf(title, sizeof title, "Circuits that change %s (Wang et al., figure 17)", controllers[c].name);
        plot[c] = figure_plot(f, title, "dark time (us)", PLOT_DECADES, PLOT_NUMBER, "iteration over TopoOpt's");
        plot[c]->y_scale = PLOT_DECADES;
        (void)snprintf(title, sizeof title, "changes %s, ms, by dark us", controllers[c].name);
        table[c] = figure_table(f, 1);
        text_table_row(table[c], title, "TopoOpt", "1", "10", "100", "1000", "10000", "over TopoOpt at 1", "paper");
    }
    for (unsigned j = 0; j < JOBS && !child_interrupted(); j++) {
        struct subject s = subject_of(jobs[j], f->plan->effort);
        for (unsigned c = 0; c < CONTROLLERS; c++) {
            for (unsigned forwards = 0; forwards < 2; forwards++) {
                struct plot_series *line = plot_add(plot[c], forwards ? PLOT_DASHES : PLOT_LINE, j, "%s%s",
                                                    topoopt_jobs[jobs[j]].name, forwards ? ", forwarding" : "");
                show_row(f, table[c], &s, &controllers[c], forwards, line);
            }
        }
        free_subject(&s);
    }
    figure_annotation(f,
                      "%u servers, d = %d, %d Gb/s; the ideal switch's strategy; circuits are random at the begin. "
                      "At each look: greedily the pair with the most bytes left, which then counts half; with "
                      "forwarding, what is not joined is then joined.",
                      topoopt_servers(f->plan->effort), DEGREE, GBPS);
    figure_annotation(f, "On change: when a flow began or ended, four dark times after the last look at the earliest "
                         "(the rhythm of the authors' published simulator). Circuits that stay carry on; others are "
                         "dark. Sums are flows to both neighbours on the ring of stride 1.");
}
