/* plan.h - the simulations of each experiment. */
#ifndef HXMESH_TOOLS_REPRODUCE_PLAN_H
#define HXMESH_TOOLS_REPRODUCE_PLAN_H

#include "tools/reproduce/run.h"

enum { REPRODUCE_MOST_RUNS = 512 };

enum reproduce_effort {
    REPRODUCE_QUICK,   /* smaller fabrics and messages: a demonstration */
    REPRODUCE_DEFAULT, /* the paper's fabrics, as far as some minutes allow */
    REPRODUCE_FULL     /* the paper's sizes */
};
extern const char *const reproduce_efforts[];

/* Runs in order: the most important first, so that a time limit leaves out the least. */
struct reproduce_plan {
    enum reproduce_effort effort;
    unsigned count;
    struct reproduce_run run[REPRODUCE_MOST_RUNS];
};

void plan_table2(struct reproduce_plan *p);
void plan_fig11(struct reproduce_plan *p);
void plan_fig12(struct reproduce_plan *p);
void plan_fig13(struct reproduce_plan *p);
void plan_fig17(struct reproduce_plan *p);

/* The fabrics of a plan, each once, in order of appearance. Returns how many. */
enum { REPRODUCE_MOST_FABRICS = 24 };
unsigned plan_fabrics(const struct reproduce_plan *p, const char *fabrics[REPRODUCE_MOST_FABRICS]);

/* The first run behind `last` that is done; NULL: there is none. `last` NULL: begins with the first. */
const struct reproduce_run *plan_next_done(const struct reproduce_plan *p, const struct reproduce_run *last);
/* As plan_next_done(), of one fabric. */
const struct reproduce_run *plan_next_of(const struct reproduce_plan *p, const char *fabric,
                                         const struct reproduce_run *last);

#endif
