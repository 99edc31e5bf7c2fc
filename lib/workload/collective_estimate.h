/* collective_estimate.h - the messages of a collective's steps, for estimates of its time (collective_choice.c). */
#ifndef COLLECTIVE_ESTIMATE_H
#define COLLECTIVE_ESTIMATE_H

#include "workload/collective_jobs.h"
#include "workload/collective_loads.h"

/* A message of a step, or a step's chunks of one pair. */
struct collective_pair {
    uint32_t from, to;
    double bytes, chunk; /* of all messages, and of one; whole blocks */
    double messages;
    double worst; /* seconds of the fullest link of its path */
    double alone; /* the same of this stripe's messages only */
    struct collective_path path;
};

struct collective_estimate {
    struct collective_job job;
    struct collective_loads *loads;
    double limit;     /* seconds beyond which the estimate need not be complete */
    unsigned stripes; /* laid; each stands for job.config.stripes / stripes */
    unsigned phases;
    struct collective_pair *pair; /* [stripes * size]: of a step */
    uint32_t pairs;
    double *ready, *next; /* [stripes * size]: seconds of each member */
    double *stripe;       /* [stripes]: seconds of the phases so far */
    bool has_bytes;       /* those of loads->bytes are asked for */
};

static inline double estimate_larger(double a, double b)
{
    return a > b ? a : b;
}

/* Most steps of a phase of any stripe. */
uint32_t estimate_steps(const struct collective_estimate *e, unsigned phase);

/* Takes the messages of a step of a stripe: e->pair from e->pairs on. */
void estimate_take_step(struct collective_estimate *e, unsigned stripe, unsigned phase, uint32_t step);

/* Lays messages `first` and up. acknowledged: as many blocks as messages go with them, since acknowledgements go the
 * other way on links with as many messages. alone: without other stripes; NULL: not needed. */
void estimate_lay_pairs(struct collective_estimate *e, uint32_t first, bool acknowledged, struct link_bytes *alone);

/* Takes and lays all messages of a step, and sets `worst` and `alone` of each. */
void estimate_lay_step(struct collective_estimate *e, unsigned phase, uint32_t step, bool acknowledged);

/* Returns what a message's last packet adds: it takes one of several paths, and arrives at the rate of its last link,
 * since it is forwarded before its end (hal/virtual/timing.h). */
double estimate_last_packet(const struct collective_pair *pair);

/* Adds what is laid, `times` times, to the loads and bytes of all phases. */
void estimate_keep(const struct collective_estimate *e, double times);

/* All members are ready at 0. */
void estimate_start(const struct collective_estimate *e);
/* Returns when the last member of a stripe is ready. */
double estimate_latest(const struct collective_estimate *e, unsigned stripe);

/* Adds the time of a phase of trees. twice: reduction and distribution. */
void estimate_add_tree(struct collective_estimate *e, unsigned phase, bool twice);

#endif
