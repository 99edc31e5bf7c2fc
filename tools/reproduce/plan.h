/* plan.h - the simulations of an experiment, as data: fabrics, sizes, ways and loads, by effort. */
#ifndef HXMESH_TOOLS_REPRODUCE_PLAN_H
#define HXMESH_TOOLS_REPRODUCE_PLAN_H

#include "tools/reproduce/run.h"

enum { REPRODUCE_MOST_RUNS = 512 };

enum reproduce_effort {
    REPRODUCE_QUICK,   /* smaller fabrics and messages: a demonstration */
    REPRODUCE_DEFAULT, /* the paper's fabrics, as far as some minutes allow */
    REPRODUCE_FULL,    /* the paper's sizes */
    REPRODUCE_EFFORTS
};
extern const char *const reproduce_efforts[REPRODUCE_EFFORTS];

/* Runs in order: the most important first, so that a time limit leaves out the least. */
struct reproduce_plan {
    enum reproduce_effort effort;
    unsigned count;
    struct reproduce_run run[REPRODUCE_MOST_RUNS];
};

/* ---- what runs, as data ---- */

enum { PLAN_WAYS = 6, PLAN_RATES = 16, PLAN_LOADS = 2, PLAN_SEED = 1 };

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)

/* Fields of a batch and of runs: all of an array, or `count` from `first` on. */
#define PLAN_ON(array)                    .fabric = (array), .fabrics = sizeof(array) / sizeof *(array)
#define PLAN_ON_SOME(array, first, count) .fabric = (array) + (first), .fabrics = (count)
#define PLAN_BATCHES(array)               .batch = (array), .batches = sizeof(array) / sizeof *(array)
/* A value of all efforts. */
#define PLAN_ALWAYS(value)                                                                                             \
    {                                                                                                                  \
        value, value, value                                                                                            \
    }

/* A fabric by effort. */
struct plan_fabric {
    const char *spec[REPRODUCE_EFFORTS];
};

/* How a collective or messages go; NULL: as by default. */
struct plan_way {
    const char *algorithm, *place, *routing;
};
#define PLAN_BY(algorithm)                                                                                             \
    {                                                                                                                  \
        algorithm, NULL, NULL                                                                                          \
    }
#define PLAN_ROUTED_BY(routing)                                                                                        \
    {                                                                                                                  \
        NULL, NULL, routing                                                                                            \
    }

/* Offered loads, as shares of injection, ascending; 0: end. */
struct plan_load {
    const char *traffic;
    double rate[REPRODUCE_EFFORTS][PLAN_RATES];
};

/* A run of each fabric by each way with each load. */
struct plan_batch {
    const struct plan_fabric *fabric;
    unsigned fabrics;
    const char *traffic;
    struct plan_way way[PLAN_WAYS];       /* none: one run */
    unsigned ways[REPRODUCE_EFFORTS];     /* 0: all */
    const struct plan_load *load;         /* [PLAN_LOADS]; NULL: `traffic` until all is sent */
    uint64_t bytes[REPRODUCE_EFFORTS];    /* of a message or vector, the most if sizes vary; 0: no run */
    uint64_t least;                       /* bytes, if sizes vary */
    uint64_t shifts[REPRODUCE_EFFORTS];   /* 0: all */
    uint64_t duration[REPRODUCE_EFFORTS]; /* ns; 0: until all is sent */
    unsigned warm_up;                     /* the duration over this */
    const char *timing;
    uint64_t buffer;
};

struct plan_runs {
    const struct plan_batch *batch;
    unsigned batches;
    uint64_t least[REPRODUCE_EFFORTS]; /* bytes, and on to four times as many; 0: sizes do not vary */
    unsigned seeds[REPRODUCE_EFFORTS]; /* all runs with each; 0: one seed, where there is chance */
};

/* Adds a batch's runs of a size. */
void plan_add(struct reproduce_plan *p, const struct plan_batch *b, uint64_t bytes, unsigned seed);
/* Adds all runs. */
void plan_add_all(struct reproduce_plan *p, const struct plan_runs *r);

/* ---- after the runs ---- */

/* The fabrics of a plan, each once, in order of appearance. Returns how many. */
enum { REPRODUCE_MOST_FABRICS = 24 };
unsigned plan_fabrics(const struct reproduce_plan *p, const char *fabrics[REPRODUCE_MOST_FABRICS]);

/* The first run behind `last` that is done; NULL: there is none. `last` NULL: begins with the first. */
const struct reproduce_run *plan_next_done(const struct reproduce_plan *p, const struct reproduce_run *last);
/* As plan_next_done(), of one fabric. */
const struct reproduce_run *plan_next_of(const struct reproduce_plan *p, const char *fabric,
                                         const struct reproduce_run *last);

#endif
