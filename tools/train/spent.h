/* spent.h - where the time of a job goes: communication by purpose, links by class, and pipeline stages.
 *
 * Data that flows. A run says it in its report (run.c). An estimate takes it from its executors (purposes, stages), and
 * from the bytes that it lays on links. */
#ifndef HXMESH_TOOLS_TRAIN_SPENT_H
#define HXMESH_TOOLS_TRAIN_SPENT_H

#include "schedule/executor.h"
#include "workload/collective_loads.h"

enum { TRAIN_NAME = 48, TRAIN_LINKS = 10 };

/* Communication for one purpose: of an iteration, mean of the ranks. */
struct train_purpose {
    char name[TRAIN_NAME]; /* "": operations without a purpose */
    double bytes;
    double seconds, hidden, exposed;
};

struct train_class {
    char name[TRAIN_NAME];
    double links, busy, busiest; /* shares of the time: mean and of the busiest link */
};

struct train_link {
    char from[TRAIN_NAME], to[TRAIN_NAME];
    double busy; /* share of the time */
};

/* A pipeline stage: of an iteration, mean of its ranks, seconds. */
struct train_stage {
    double computing;
    double exposed[SCHEDULE_MOST_PURPOSES]; /* by index of train_spent.purpose */
};

struct train_spent {
    struct train_purpose purpose[SCHEDULE_MOST_PURPOSES];
    unsigned purposes;
    struct train_class link_class[HX_MAX_LINK_CLASSES];
    unsigned link_classes;
    struct train_link link[TRAIN_LINKS]; /* busiest first */
    unsigned links;
    struct train_stage *stage; /* of estimates of a model with a pipeline; NULL: none */
    uint32_t stages;
};

/* NULL inside is allowed. */
void spent_free(struct train_spent *s);

/* Keeps the link if it is among the busiest; of equal ones the first. */
void spent_take_link(struct train_spent *s, const struct train_link *link);

/* Takes purposes from the results of a plan. bytes[purpose]: further bytes that all ranks send; NULL: none. */
void spent_take_purposes(struct train_spent *s, const struct executor_plan *plan, const double *bytes,
                         double iterations);

/* Takes stages, after the purposes. stage_of[rank]; count: of stages. */
void spent_take_stages(struct train_spent *s, const struct executor_plan *plan, const uint32_t *stage_of,
                       uint32_t count, double iterations);

/* Takes classes and links from the bytes on links in `seconds`. load: [ports], of all planes, which carry alike. */
void spent_take_links(struct train_spent *s, const struct collective_loads *l, const double *load, double seconds);

#endif
