/* experiment.h - the list of experiments, by paper. */
#ifndef HXMESH_TOOLS_REPRODUCE_EXPERIMENT_H
#define HXMESH_TOOLS_REPRODUCE_EXPERIMENT_H

#include "tools/reproduce/figure.h"

struct experiment {
    const char *paper; /* "hammingmesh" */
    const char *name;  /* in that paper: "table2" */
    const char *title;
    unsigned minutes; /* time limit if the user gives none; 0: it takes seconds */
    void (*plan)(struct reproduce_plan *p);
    void (*show)(struct reproduce_figure *f);
};

extern const struct experiment experiments[]; /* ends with .name NULL */

/* Whether the word selects it: "all", its paper, "paper/name", or the name alone if its paper is the first, which is
 * also called "sc22". */
bool experiment_is(const struct experiment *e, const char *word);

/* Every valid word; ends with NULL. */
const char *const *experiment_words(void);

/* A line for each experiment with its time, for --help. */
const char *experiment_list(void);

/* Writes the path of its files below the output folder, without suffix: of the first paper only the name. */
void experiment_stem(const struct experiment *e, char *stem, size_t bytes);

#endif
