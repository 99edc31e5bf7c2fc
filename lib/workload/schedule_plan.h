/* schedule_plan.h - the schedules of a fabric's jobs: ranks on hosts, and how collectives are carried out.
 *
 * Data that flows. A run, or each job, may have a file with a schedule (schedule/schedule.h). It is read once, before
 * workers are forked: they share it. A placement gives each rank a host of the job, at most one rank a host. Executors
 * (schedule/executor.h) write what happened into memory that all processes share.
 *
 *     linear      rank r on the r-th living host of the job, by host number
 *     grid        in the order of a walk row by row in alternating direction: successive ranks are neighbours
 *     AxBxC       a grid of two to six dimensions, rank = i + A * (j + B * k) (SC22, figure 4). Dimensions with the
 *                 product of the number of columns fold onto the columns, the others onto the rows: neighbours in the
 *                 first dimension of each are neighbours. Without such dimensions all fold onto that walk
 *     fold        the same with the schedule's own dimensions
 *     random      by the seed
 *     FILE        a line for each rank: its host, as a number, gx:gy or agx:gy */
#ifndef SCHEDULE_PLAN_H
#define SCHEDULE_PLAN_H

#include "schedule/choices.h"
#include "schedule/formats.h"
#include "schedule/results.h"
#include "workload/traffic.h"

/* Invariant: rank_of[host[r]] == r of the plan, for all ranks. */
struct schedule_job {
    uint16_t tag;
    const char *path;
    const struct schedule *schedule;
    struct schedule *own; /* the same, if it is closed with the plan; else NULL */
    struct schedule_notes notes;
    struct schedule_groups groups;
    struct schedule_choices *choices;
    struct executor_plan executor;
    double *slowness;       /* [ranks]: factor of computing times; NULL: no rank is slower */
    uint32_t *host;         /* [ranks] */
    uint32_t *destinations; /* [ranks]: others that it sends to, at most */
    uint32_t *peers;        /* [ranks]: others that it sends to or receives from, at most */
    struct schedule_results results;
};

struct schedule_plan {
    const struct traffic *traffic;
    struct schedule_job *job;
    unsigned jobs;
    uint32_t *rank_of; /* [hosts] */
    uint16_t *job_of;  /* [hosts]: 1 + index of its job; 0: no schedule */
};

enum {
    SCHEDULE_PLAN_ENTRIES = 1 << 24 /* most entries that are kept, of a job: half a gigabyte */
};

/* Plans all jobs with a schedule, after traffic_init(). Returns false and sets *problem: a file that is no schedule,
 * more ranks than hosts, a placement that does not fit. *t must outlive *p. */
bool schedule_plan_init(struct schedule_plan *p, const struct traffic *t, struct hx_problem *problem);
/* The same with one schedule that has been read, in place of those of files. host: of each rank; NULL: as --place says.
 * *s must outlive *p. */
bool schedule_plan_of(struct schedule_plan *p, const struct traffic *t, const struct schedule *s, const uint32_t *host,
                      const char *path, struct hx_problem *problem);
void schedule_plan_free(struct schedule_plan *p);

/* Before ranks are made: operations without duration end no more when *stop is set. */
void schedule_plan_stop(struct schedule_plan *p, const atomic_bool *stop);

/* The schedule of a host; NULL: none, or none of its ranks is there. */
static inline const struct schedule_job *schedule_job_of(const struct schedule_plan *p, uint32_t host)
{
    return p->job_of[host] ? &p->job[p->job_of[host] - 1] : NULL;
}

/* Bytes of all executors and of what their operations did. */
uint64_t schedule_plan_memory(const struct schedule_plan *p);

/* Whether every operation of every schedule ended. */
bool schedule_plan_is_done(const struct schedule_plan *p);
/* Whether no rank does anything and no message is in progress: two looks with equal sums say so. */
struct schedule_activity {
    uint64_t sent, arrived;
    bool any;
};
struct schedule_activity schedule_plan_activity(const struct schedule_plan *p);
/* Operations with their repeats; a block that repeats is one. */
struct schedule_progress {
    uint64_t ended, open; /* open: in progress */
};
/* Adds those of a host's rank, if it has one. */
void schedule_plan_add(const struct schedule_plan *p, uint32_t host, struct schedule_progress *sum);
/* All operations. */
double schedule_plan_operations(const struct schedule_plan *p);

#endif
