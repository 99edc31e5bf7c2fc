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

static const char columns[] =
    "|job|text; |controller|text; |forwards|flag; |dark|6; |seconds|9; |topoopt_seconds|9; |looks|count; "
    "|changes|count";

/* A controller's table; times in ms by dark time. */
#define BY_DARK_TIME "||text; TopoOpt||2; 1||2; 10||2; 100||2; 1000||2; 10000||2; over TopoOpt at 1||2; paper||1"
static const char *const shown[CONTROLLERS] = {[EAGER] = "changes on change, ms, by dark us" BY_DARK_TIME,
                                               [PERIODIC] = "changes each 50 ms, ms, by dark us" BY_DARK_TIME};

static void show_row(struct reproduce_figure *f, struct text_table *t, const struct subject *s,
                     const struct controller *c, bool forwards, struct plot_series *line)
{
    char name[NAME];
    const char *job = s->fixed.m->name;
    double number[TIMES + 3] = {1e3 * s->fixed.iteration};
    (void)snprintf(name, sizeof name, "%s, %s", job, forwards ? "forwarding" : "none");
    for (unsigned i = 0; i < TIMES; i++)
        number[1 + i] = NAN;
    for (unsigned i = 0; i < TIMES && !child_interrupted(); i++) {
        const struct reconfigure how = how_of(c, dark_us[i] * 1e-6, forwards);
        const struct reconfigured r = reconfigure_run(&s->ideal.result.demand, &s->first, &how, iterations_of(s, c));
        number[1 + i] = 1e3 * r.iteration;
        plot_point(line, dark_us[i], r.iteration / s->fixed.iteration);
        figure_row(f, NULL, columns, TEXTS(job, c->name),
                   NUMBERS(forwards, how.dark, r.iteration, s->fixed.iteration, r.looks, r.changes));
    }
    number[1 + TIMES] = number[1] / number[0];
    number[2 + TIMES] = figure_paper(f, !forwards && c->darks > 0 ? paper_1us : NAN);
    figure_row(f, t, shown[c - controllers], TEXTS(name), number);
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
        plot[c] = figure_plot(f, "dark time (us)", PLOT_DECADES, "iteration over TopoOpt's",
                              "Circuits that change %s (Wang et al., figure 17)", controllers[c].name);
        plot[c]->y_scale = PLOT_DECADES;
        table[c] = figure_table(f, 1, shown[c]);
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
}
