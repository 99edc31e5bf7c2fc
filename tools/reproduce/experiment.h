/* experiment.h - the experiments that can be run, by the paper that has them. */
#ifndef HXMESH_TOOLS_REPRODUCE_EXPERIMENT_H
#define HXMESH_TOOLS_REPRODUCE_EXPERIMENT_H

#include "tools/reproduce/figure.h"

struct experiment {
    const char *paper; /* "hammingmesh" */
    const char *name;  /* in that paper: "table2" */
    const char *title;
    unsigned minutes; /* that it may take unless the caller says else; 0: it takes seconds */
    void (*plan)(struct reproduce_plan *p);
    void (*show)(struct reproduce_figure *f);
};

extern const struct experiment experiments[]; /* ends with .name NULL */

/* Whether the word means it: "all", its paper, "paper/name", and of the first paper the name alone. */
bool experiment_is(const struct experiment *e, const char *word);

/* Every such word, for choices; ends with NULL. */
const char *const *experiment_words(void);

/* A line each, with its time, as --help lists them. */
const char *experiment_list(void);

/* Where its files are below the folder of all, without their ending: of the first paper the name alone. */
void experiment_stem(const struct experiment *e, char *stem, size_t bytes);

#endif
