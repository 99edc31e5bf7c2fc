/* sc22.c - figure 15 of the HammingMesh paper and section V-B: iteration times of five training jobs on
 * eight fabrics. */
#include "tools/injection.h"
#include "tools/reproduce/hammingmesh.h"
#include "tools/reproduce/paper.h"

#include <math.h>
#include <string.h>

/* ---- fabrics ---- */

enum { LINKS = 4 /* of a host, over all planes */ };

static const struct kind {
    const char *name;
    const char *priced; /* in table II */
    bool one_link;
} kinds[SC22_FABRICS] = {[SC22_TREE] = {"fat tree", "fat-tree hosts=1024", true},
                         [SC22_HALF_TREE] = {"50 % tree", PAPER_HALF_TREE, true},
                         [SC22_QUARTER_TREE] = {"75 % tree", PAPER_QUARTER_TREE, true},
                         [SC22_DRAGONFLY] = {"Dragonfly", PAPER_DRAGONFLY, true},
                         [SC22_HYPERX] = {"HyperX", "32x32 Hx1Mesh", false},
                         [SC22_TORUS] = {"torus", PAPER_TORUS, false},
                         [SC22_HX2] = {"Hx2Mesh", "16x16 Hx2Mesh", false},
                         [SC22_HX4] = {"Hx4Mesh", "8x8 Hx4Mesh", false}};

/* Ranks stand row by row on the grid. Trees and Dragonflies of 1,024 hosts, of which the first are used. */
#define CLUSTER "fat-tree hosts=1024", PAPER_HALF_TREE, PAPER_QUARTER_TREE, PAPER_DRAGONFLY
static const char *const on_1024[] = {CLUSTER, "32x32 Hx1Mesh", PAPER_TORUS, "16x16 Hx2Mesh", "8x8 Hx4Mesh"};
static const char *const on_384[] = {CLUSTER, "24x16 Hx1Mesh", "torus 24x16 board=2x2", "12x8 Hx2Mesh", "6x4 Hx4Mesh"};
static const char *const on_128[] = {CLUSTER, "16x8 Hx1Mesh", "torus 16x8 board=2x2", "8x4 Hx2Mesh", "4x2 Hx4Mesh"};
static const char *const on_1536[] = {"fat-tree hosts=1536",
                                      "fat-tree hosts=1536 down=32 up=16",
                                      "fat-tree hosts=1536 down=32 up=8",
                                      "dragonfly a=16 p=8 h=8 groups=12",
                                      "48x32 Hx1Mesh",
                                      "torus 48x32 board=2x2",
                                      "24x16 Hx2Mesh",
                                      "12x8 Hx4Mesh"};
static const char *const on_64[] = {"fat-tree hosts=64 radix=16",
                                    "fat-tree hosts=64 radix=16 down=8 up=4",
                                    "fat-tree hosts=64 radix=16 down=8 up=2",
                                    "dragonfly a=8 p=4 h=4 groups=4",
                                    "8x8 Hx1Mesh",
                                    "torus 8x8 board=2x2",
                                    "4x4 Hx2Mesh",
                                    "2x2 Hx4Mesh"};

/* ---- jobs ---- */

#define UNKNOWN                                                                                                        \
    {                                                                                                                  \
        NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN                                                                         \
    }

/* clang-format off */
static const struct job {
    const char *name, *file;
    const char *algorithm;             /* of all-reduces where hosts have several links; NULL: there are none */
    const char *on_torus;              /* in place of it, on the torus; NULL: the same */
    const char *set[REPRODUCE_SETS];   /* parameters */
    const char *quick[REPRODUCE_SETS]; /* the same on 64 ranks, with a part of each vector */
    const char *const *fabric;         /* [SC22_FABRICS] */
    double hops;                       /* packet-hops of a run, in the mean */
    double paper_computing;            /* ms; NAN: not given */
    double paper[SC22_FABRICS];        /* time of an iteration, ms; NAN: not given */
    double plotted[2][SC22_HX2];       /* figure 15: cost savings of Hx2Mesh and Hx4Mesh; 0: none */
} jobs[] = {
    {"DLRM", "dlrm.schedule.yaml", "torus", NULL, {NULL}, {"data=64", "share=64"}, on_128, 1e6, NAN,
     {2.96, 2.97, 2.99, NAN, 2.94, 3.12, 2.97, 3.00},
     {{4.0, 3.26, 3.14, 5.15, 1.15, 1.43}, {5.6, 4.56, 4.4, 7.26, 1.6, 2.07}}},
    {"GPT-3", "gpt-3-sc22.schedule.yaml", "ring", NULL, {NULL}, {"stages=16", "share=64"}, on_384, 8e7, 31.8,
     {34.8, 36.4, 37.5, NAN, 40.9, 72.2, 41.7, 49.9},
     {{1.41, 1.52, 1.41, 2.47, 1.84, 1.87}, {1.53, 1.64, 1.53, 2.69, 2.0, 2.03}}},
    {"CosmoFlow", "cosmoflow.schedule.yaml", "torus", NULL, {NULL}, {"replicas=16", "share=64"}, on_1024, 5.5e7, 44.3,
     {NAN, NAN, NAN, NAN, NAN, 46.2, NAN, 45.8},
     {{2.46, 1.71, 1.29, 3.36, 1.73, 1.01}, {2.97, 2.06, 1.54, 4.04, 2.07, 1.2}}},
    {"GPT-3 MoE", "gpt-3-moe-sc22.schedule.yaml", NULL, "pairwise", {NULL}, {"stages=16", "experts=4", "share=64"},
     on_1536, 2.5e8, 49.9,
     {52.2, NAN, 52.9, NAN, 53.9, 73.8, 58.3, 63.3},
     {{0.85, 0.53, 0.43, 0.55, 0.96, 0.50}, {2.73, 1.73, 1.41, 1.72, 3.12, 1.61}}},
    {"ResNet-152", "resnet-152.schedule.yaml", "torus", NULL, {NULL}, {"data=64", "share=64"}, on_1024, 2.8e8, 108,
     {109.7, 109.7, 109.7, 109.7, 109.7, 110.1, 110.1, 110.1},
     {{3.72, 2.6, 1.96, 4.22, 2.10, 0.49}, {7.76, 5.4, 4.06, 8.81, 4.37, 1.01}}},
    {"CosmoFlow, listed", "cosmoflow.schedule.yaml", "torus", NULL, {"as_run=0"}, {NULL}, on_1024, 5.5e7, NAN,
     UNKNOWN, {{0}}},
    {"ResNet-152, D=512", "resnet-152.schedule.yaml", "torus", NULL, {"data=512"}, {NULL}, on_1024, 1.4e8, NAN,
     UNKNOWN, {{0}}},
    {"ResNet-152, D=256", "resnet-152.schedule.yaml", "torus", NULL, {"data=256"}, {NULL}, on_1024, 7e7, NAN,
     UNKNOWN, {{0}}}};
/* clang-format on */
static const unsigned counts[] = {[REPRODUCE_QUICK] = 5, [REPRODUCE_DEFAULT] = 6, [REPRODUCE_FULL] = 8};
enum { PLOTTED = 5, QUICK_HOPS = 300 /* how much fewer than of the paper's size */ };

static const char *algorithm_of(const struct job *job, enum sc22_fabric fabric)
{
    if (fabric == SC22_TORUS && job->on_torus)
        return job->on_torus;
    return job->algorithm && kinds[fabric].one_link ? "ring" : job->algorithm;
}

/* Planes with which hosts inject as on four links; 0: one. */
static unsigned planes_of(enum sc22_fabric fabric)
{
    struct injection i = {.links = kinds[fabric].one_link ? 1 : LINKS, .gbps = HX_LINK_GBPS, .planes = 1, .rate = 1};
    (void)injection_equal(&i, 1, HX_MAX_PLANES, LINKS * HX_LINK_GBPS);
    return i.planes > 1 ? i.planes : 0;
}

void plan_fig15(struct reproduce_plan *p)
{
    const bool quick = p->effort == REPRODUCE_QUICK;
    for (unsigned j = 0; j < counts[p->effort]; j++) {
        for (unsigned f = 0; f < SC22_FABRICS; f++) {
            struct reproduce_run *run = &p->run[p->count++];
            *run = (struct reproduce_run){.fabric = quick ? on_64[f] : jobs[j].fabric[f],
                                          .traffic = jobs[j].file,
                                          .schedule = true,
                                          .algorithm = algorithm_of(&jobs[j], f),
                                          .hops = quick ? jobs[j].hops / QUICK_HOPS : jobs[j].hops,
                                          .planes = planes_of(f)};
            memcpy(run->set, quick ? jobs[j].quick : jobs[j].set, sizeof run->set);
        }
    }
}

/* ---- results ---- */

double sc22_saving(enum sc22_fabric own, double own_ms, enum sc22_fabric other, double other_ms, double computing_ms)
{
    double cost = paper_bought_musd(kinds[other].priced) / paper_bought_musd(kinds[own].priced);
    return cost * (other_ms - computing_ms) / (own_ms - computing_ms);
}

static const struct reproduce_run *run_of(const struct reproduce_plan *p, unsigned job, unsigned fabric)
{
    return &p->run[job * SC22_FABRICS + fabric];
}

/* NAN: not run. */
static double iteration_ms(const struct reproduce_plan *p, unsigned job, unsigned fabric)
{
    const struct reproduce_run *run = run_of(p, job, fabric);
    return run->state == REPRODUCE_DONE ? run->schedule_seconds * 1e3 : NAN;
}

static double computing_ms(const struct reproduce_plan *p, unsigned job)
{
    double most = NAN;
    for (unsigned f = 0; f < SC22_FABRICS; f++)
        if (run_of(p, job, f)->state == REPRODUCE_DONE)
            most = run_of(p, job, f)->computing_seconds * 1e3;
    return most;
}

static double saving(const struct reproduce_plan *p, unsigned job, enum sc22_fabric own, enum sc22_fabric other)
{
    return sc22_saving(own, iteration_ms(p, job, own), other, iteration_ms(p, job, other), computing_ms(p, job));
}

/* Of the paper. */
static double plotted(const struct reproduce_figure *f, unsigned job, enum sc22_fabric own, enum sc22_fabric other)
{
    double value = jobs[job].plotted[own - SC22_HX2][other];
    return figure_paper(f, value > 0 ? value : NAN);
}

static const char columns[] =
    "|job|text; |fabric|text; |spec|text; |iteration_ms|2; |computing_ms|2; |paper_ms|2; |cost_musd|2";
static const char *const savings[] = {"|saving_of_hx2mesh|2; |paper_saving_of_hx2mesh|2",
                                      "|saving_of_hx4mesh|2; |paper_saving_of_hx4mesh|2"};

static void add_result(struct reproduce_figure *f, unsigned job, unsigned fabric)
{
    json_t *row =
        figure_row(f, NULL, columns, TEXTS(jobs[job].name, kinds[fabric].name, run_of(f->plan, job, fabric)->fabric),
                   NUMBERS(iteration_ms(f->plan, job, fabric), computing_ms(f->plan, job),
                           figure_paper(f, jobs[job].paper[fabric]), paper_bought_musd(kinds[fabric].priced)));
    for (unsigned own = SC22_HX2; own <= SC22_HX4 && fabric < SC22_HX2; own++)
        figure_keys(row, savings[own - SC22_HX2], NULL,
                    NUMBERS(saving(f->plan, job, own, fabric), plotted(f, job, own, fabric)));
}

enum { NAME = 64 };

/* A job's row, and below it the paper's. */
static void job_rows(struct reproduce_figure *f, struct text_table *t, unsigned job, unsigned count, const double *ours,
                     int digits, const double *paper)
{
    char name[NAME];
    (void)snprintf(name, sizeof name, "%s, paper", jobs[job].name);
    figure_numbers(t, jobs[job].name, 2, count, ours);
    if (job < PLOTTED && f->plan->effort != REPRODUCE_QUICK)
        figure_numbers(t, name, digits, count, paper);
}

static void time_table(struct reproduce_figure *f)
{
    const char *head[SC22_FABRICS + 1] = {"computing"};
    for (unsigned i = 0; i < SC22_FABRICS; i++)
        head[i + 1] = kinds[i].name;
    struct text_table *t = figure_matrix(f, "iteration, ms", SC22_FABRICS + 1, head);
    for (unsigned j = 0; j < counts[f->plan->effort]; j++) {
        double ours[SC22_FABRICS + 1] = {computing_ms(f->plan, j)};
        double paper[SC22_FABRICS + 1] = {jobs[j].paper_computing};
        for (unsigned i = 0; i < SC22_FABRICS; i++) {
            ours[i + 1] = iteration_ms(f->plan, j, i);
            paper[i + 1] = jobs[j].paper[i];
        }
        job_rows(f, t, j, SC22_FABRICS + 1, ours, j ? 1 : 2, paper);
    }
}

/* A table and a plot. */
static void show_savings(struct reproduce_figure *f, enum sc22_fabric own)
{
    char title[NAME];
    const char *name[SC22_HX2];
    struct plot *p = figure_plot(f, "job", PLOT_LINEAR, "cost ratio x overhead ratio",
                                 "Cost savings of the %s (figure 15)", kinds[own].name);
    p->bar_width = 0.8 / SC22_HX2;
    for (unsigned i = 0; i < SC22_HX2; i++) {
        name[i] = kinds[i].name;
        (void)plot_add(p, PLOT_BARS, i, "%s", name[i]);
        (void)plot_add(p, PLOT_DIAMONDS, i, "%s, paper", name[i]);
    }
    (void)snprintf(title, sizeof title, "%s saves", kinds[own].name);
    struct text_table *t = figure_matrix(f, title, SC22_HX2, name);
    for (unsigned j = 0; j < counts[f->plan->effort]; j++) {
        double ours[SC22_HX2], paper[SC22_HX2];
        for (unsigned i = 0; i < SC22_HX2; i++) {
            const double at = j + (i + 0.5) * p->bar_width - 0.4;
            ours[i] = saving(f->plan, j, own, i);
            paper[i] = plotted(f, j, own, i);
            plot_point(j < PLOTTED ? &p->series[2 * i] : NULL, at, ours[i]);
            plot_point(j < PLOTTED ? &p->series[2 * i + 1] : NULL, at, paper[i]);
        }
        job_rows(f, t, j, SC22_HX2, ours, 2, paper);
    }
    for (unsigned j = 0; j < PLOTTED; j++)
        plot_category(p, jobs[j].name);
}

void show_fig15(struct reproduce_figure *f)
{
    time_table(f);
    for (unsigned own = SC22_HX2; own <= SC22_HX4; own++)
        show_savings(f, own);
    for (unsigned j = 0; j < counts[f->plan->effort]; j++)
        for (unsigned i = 0; i < SC22_FABRICS; i++)
            if (run_of(f->plan, j, i)->state == REPRODUCE_DONE)
                add_result(f, j, i);
}
