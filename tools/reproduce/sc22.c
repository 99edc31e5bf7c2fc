/* sc22.c - figure 15 of the HammingMesh paper (tools/reproduce/sc22.h). */
#include "tools/reproduce/sc22.h"
#include "tools/injection.h"
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
} jobs[] = {{"DLRM",
             "dlrm.schedule.yaml",
             "torus",
             NULL,
             {NULL},
             {"data=64", "share=64"},
             on_128,
             1e6,
             NAN,
             {2.96, 2.97, 2.99, NAN, 2.94, 3.12, 2.97, 3.00},
             {{4.0, 3.26, 3.14, 5.15, 1.15, 1.43}, {5.6, 4.56, 4.4, 7.26, 1.6, 2.07}}},
            {"GPT-3",
             "gpt-3-sc22.schedule.yaml",
             "ring",
             NULL,
             {NULL},
             {"stages=16", "share=64"},
             on_384,
             8e7,
             31.8,
             {34.8, 36.4, 37.5, NAN, 40.9, 72.2, 41.7, 49.9},
             {{1.41, 1.52, 1.41, 2.47, 1.84, 1.87}, {1.53, 1.64, 1.53, 2.69, 2.0, 2.03}}},
            {"CosmoFlow",
             "cosmoflow.schedule.yaml",
             "torus",
             NULL,
             {NULL},
             {"replicas=16", "share=64"},
             on_1024,
             5.5e7,
             44.3,
             {NAN, NAN, NAN, NAN, NAN, 46.2, NAN, 45.8},
             {{2.46, 1.71, 1.29, 3.36, 1.73, 1.01}, {2.97, 2.06, 1.54, 4.04, 2.07, 1.2}}},
            {"GPT-3 MoE",
             "gpt-3-moe-sc22.schedule.yaml",
             NULL,
             "pairwise",
             {NULL},
             {"stages=16", "experts=4", "share=64"},
             on_1536,
             2.5e8,
             49.9,
             {52.2, NAN, 52.9, NAN, 53.9, 73.8, 58.3, 63.3},
             {{0.85, 0.53, 0.43, 0.55, 0.96, 0.50}, {2.73, 1.73, 1.41, 1.72, 3.12, 1.61}}},
            {"ResNet-152",
             "resnet-152.schedule.yaml",
             "torus",
             NULL,
             {NULL},
             {"data=64", "share=64"},
             on_1024,
             2.8e8,
             108,
             {109.7, 109.7, 109.7, 109.7, 109.7, 110.1, 110.1, 110.1},
             {{3.72, 2.6, 1.96, 4.22, 2.10, 0.49}, {7.76, 5.4, 4.06, 8.81, 4.37, 1.01}}},
            {"CosmoFlow, listed",
             "cosmoflow.schedule.yaml",
             "torus",
             NULL,
             {"as_run=0"},
             {NULL},
             on_1024,
             5.5e7,
             NAN,
             {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN},
             {{0}}},
            {"ResNet-152, D=512",
             "resnet-152.schedule.yaml",
             "torus",
             NULL,
             {"data=512"},
             {NULL},
             on_1024,
             1.4e8,
             NAN,
             {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN},
             {{0}}},
            {"ResNet-152, D=256",
             "resnet-152.schedule.yaml",
             "torus",
             NULL,
             {"data=256"},
             {NULL},
             on_1024,
             7e7,
             NAN,
             {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN},
             {{0}}}};
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

static double plotted(const struct reproduce_plan *p, unsigned job, enum sc22_fabric own, enum sc22_fabric other)
{
    double value = jobs[job].plotted[own - SC22_HX2][other];
    return p->effort == REPRODUCE_QUICK || value == 0 ? NAN : value;
}

static double paper_ms(const struct reproduce_plan *p, unsigned job, unsigned fabric)
{
    return p->effort == REPRODUCE_QUICK ? NAN : jobs[job].paper[fabric];
}

static void add_result(struct reproduce_figure *f, unsigned job, unsigned fabric)
{
    const struct reproduce_plan *p = f->plan;
    json_t *row = json_pack("{s:s, s:s, s:s, s:f, s:f, s:o, s:f}", "job", jobs[job].name, "fabric", kinds[fabric].name,
                            "spec", run_of(p, job, fabric)->fabric, "iteration_ms", iteration_ms(p, job, fabric),
                            "computing_ms", computing_ms(p, job), "paper_ms", figure_number(paper_ms(p, job, fabric)),
                            "cost_musd", paper_bought_musd(kinds[fabric].priced));
    for (unsigned own = SC22_HX2; own <= SC22_HX4 && fabric < SC22_HX2; own++) {
        const bool hx2 = own == SC22_HX2;
        (void)json_object_set_new(row, hx2 ? "saving_of_hx2mesh" : "saving_of_hx4mesh",
                                  figure_number(saving(p, job, own, fabric)));
        (void)json_object_set_new(row, hx2 ? "paper_saving_of_hx2mesh" : "paper_saving_of_hx4mesh",
                                  figure_number(plotted(p, job, own, fabric)));
    }
    figure_result(f, row);
}

enum { NAME = 64 };

static const char *of_paper(char name[NAME], unsigned job)
{
    (void)snprintf(name, NAME, "%s, paper", jobs[job].name);
    return name;
}

static void time_table(struct reproduce_figure *f)
{
    struct text_table *t = figure_table(f, 1);
    const char *head[SC22_FABRICS + 2] = {"iteration, ms", "computing"};
    for (unsigned i = 0; i < SC22_FABRICS; i++)
        head[i + 2] = kinds[i].name;
    text_table_cells(t, SC22_FABRICS + 2, head);
    for (unsigned j = 0; j < counts[f->plan->effort]; j++) {
        char name[NAME];
        struct cells ours = {0}, paper = {0};
        const char *row[SC22_FABRICS + 2] = {jobs[j].name, cell(&ours, 2, computing_ms(f->plan, j))};
        const char *row_of_paper[SC22_FABRICS + 2] = {of_paper(name, j), cell(&paper, 1, jobs[j].paper_computing)};
        for (unsigned i = 0; i < SC22_FABRICS; i++) {
            row[i + 2] = cell(&ours, 2, iteration_ms(f->plan, j, i));
            row_of_paper[i + 2] = cell(&paper, j ? 1 : 2, paper_ms(f->plan, j, i));
        }
        text_table_cells(t, SC22_FABRICS + 2, row);
        if (j < PLOTTED && f->plan->effort != REPRODUCE_QUICK)
            text_table_cells(t, SC22_FABRICS + 2, row_of_paper);
    }
}

static void saving_table(struct reproduce_figure *f, enum sc22_fabric own)
{
    char title[NAME];
    struct text_table *t = figure_table(f, 1);
    const char *head[SC22_HX2 + 1] = {title};
    (void)snprintf(title, sizeof title, "%s saves", kinds[own].name);
    for (unsigned i = 0; i < SC22_HX2; i++)
        head[i + 1] = kinds[i].name;
    text_table_cells(t, SC22_HX2 + 1, head);
    for (unsigned j = 0; j < counts[f->plan->effort]; j++) {
        char name[NAME];
        struct cells ours = {0}, paper = {0};
        const char *row[SC22_HX2 + 1] = {jobs[j].name};
        const char *row_of_paper[SC22_HX2 + 1] = {of_paper(name, j)};
        for (unsigned i = 0; i < SC22_HX2; i++) {
            row[i + 1] = cell(&ours, 2, saving(f->plan, j, own, i));
            row_of_paper[i + 1] = cell(&paper, 2, plotted(f->plan, j, own, i));
        }
        text_table_cells(t, SC22_HX2 + 1, row);
        if (j < PLOTTED && f->plan->effort != REPRODUCE_QUICK)
            text_table_cells(t, SC22_HX2 + 1, row_of_paper);
    }
}

static void saving_plot(struct reproduce_figure *f, enum sc22_fabric own)
{
    char title[PLOT_TEXT];
    (void)snprintf(title, sizeof title, "Cost savings of the %s (figure 15)", kinds[own].name);
    struct plot *p = figure_plot(f, title, "job", PLOT_LINEAR, PLOT_NUMBER, "cost ratio x overhead ratio");
    p->bar_width = 0.8 / SC22_HX2;
    for (unsigned j = 0; j < PLOTTED; j++)
        plot_category(p, jobs[j].name);
    for (unsigned i = 0; i < SC22_HX2; i++) {
        struct plot_series *ours = plot_add(p, PLOT_BARS, i, "%s", kinds[i].name);
        struct plot_series *paper = plot_add(p, PLOT_DIAMONDS, i, "%s, paper", kinds[i].name);
        for (unsigned j = 0; j < PLOTTED; j++) {
            double at = j + (i + 0.5) * p->bar_width - 0.4;
            plot_point(ours, at, saving(f->plan, j, own, i));
            plot_point(paper, at, plotted(f->plan, j, own, i));
        }
    }
}

void show_fig15(struct reproduce_figure *f)
{
    time_table(f);
    for (unsigned own = SC22_HX2; own <= SC22_HX4; own++) {
        saving_table(f, own);
        saving_plot(f, own);
    }
    for (unsigned j = 0; j < counts[f->plan->effort]; j++)
        for (unsigned i = 0; i < SC22_FABRICS; i++)
            if (run_of(f->plan, j, i)->state == REPRODUCE_DONE)
                add_result(f, j, i);
    figure_annotation(f, "Savings: ratio of the costs of table II, times the ratio of the overheads: time of an "
                         "iteration less computing. Above 1 the HammingMesh is the better buy.");
    figure_annotation(f, "Hosts of trees and Dragonflies have four planes of one link, the others one plane of four. "
                         "The HyperX is the Hx1Mesh of table II's price.");
    figure_annotation(
        f, "All-reduces: one ring on trees and Dragonflies; elsewhere by torus, but in the stages of "
           "GPT-3, which are parts of a column, by its ring. All-to-alls: best; of MoE on the torus pairwise.");
    figure_annotation(f, "CosmoFlow computes as the authors' program ran, 44.3 ms, and as its layers are listed, 93.6 "
                         "ms. The paper says that all but two fabrics take less than 2 %% more than computing.");
}
