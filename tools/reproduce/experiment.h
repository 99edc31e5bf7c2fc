/* experiment.h - the experiments, by paper.
 *
 * To add one: a file of the paper with its array of experiments, its name here and in experiment.c. What runs is data
 * (tools/reproduce/plan.h), as are columns (tools/reproduce/figure.h) and notes; `show` fills in rows and points. */
#ifndef HXMESH_TOOLS_REPRODUCE_EXPERIMENT_H
#define HXMESH_TOOLS_REPRODUCE_EXPERIMENT_H

#include "tools/reproduce/figure.h"

struct experiment {
    const char *name; /* in its paper: "table2" */
    const char *title;
    unsigned minutes;                         /* time limit if the user gives none; 0: it takes seconds */
    const struct plan_runs *runs;             /* NULL: what `plan` adds */
    void (*plan)(struct reproduce_plan *p);   /* NULL: nothing */
    void (*show)(struct reproduce_figure *f); /* fills tables, plots and results after the runs */
    const char *const *notes;                 /* below the tables, behind those of `show`; ends with NULL; or NULL */
};

#define NOTES(...) ((const char *const[]){__VA_ARGS__, NULL})
#define EXPERIMENTS_END                                                                                                \
    {                                                                                                                  \
        NULL, NULL, 0, NULL, NULL, NULL, NULL                                                                          \
    }

struct paper {
    const char *name;                    /* "hammingmesh" */
    const struct experiment *experiment; /* ends with .name NULL */
};

extern const struct experiment hammingmesh_experiments[]; /* Hoefler et al., SC22 */
extern const struct experiment diameter2_experiments[];   /* Kathareios et al., SC15 */
extern const struct experiment eflops_experiments[];      /* Dong et al., HPCA 2020 */
extern const struct experiment multidim_experiments[];    /* Won et al., 2021 */
extern const struct experiment topoopt_experiments[];     /* Wang et al., NSDI 2023 */
extern const struct experiment jobs_experiments[];        /* hxmesh's own */

/* All of them; ends with .name NULL. */
extern const struct paper papers[];

/* Adds the runs of an experiment. */
void experiment_plan(const struct experiment *e, struct reproduce_plan *p);

/* Whether the word selects it: "all", its paper, "paper/name", or the name alone if its paper is the first, which is
 * also called "sc22". */
bool experiment_is(const struct paper *paper, const struct experiment *e, const char *word);

/* Every valid word; ends with NULL. */
const char *const *experiment_words(void);

/* A line for each experiment with its time, for --help. */
const char *experiment_list(void);

/* Writes the path of its files below the output folder, without suffix: of the first paper only the name. */
void experiment_stem(const struct paper *paper, const struct experiment *e, char *stem, size_t bytes);

#endif
