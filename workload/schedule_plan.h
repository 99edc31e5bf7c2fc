/* schedule_plan.h - the schedules of a fabric's jobs: ranks on hosts, and algorithms of collectives.
 *
 * A run, or each job, may have a file with a schedule (schedule/schedule.h). It is read once, before workers are
 * forked, and they share it. A placement gives each rank a host of the job, at most one rank a host. Executors
 * (schedule/executor.h) write their results into memory that all processes share.
 *
 *     linear      rank r on the r-th living host of the job, by host number
 *     grid        in the order of a walk row by row in alternating direction: successive ranks are neighbours
 *     AxBxC       a grid of two to four dimensions, rank = i + A * (j + B * k) (SC22, figure 4). Dimensions with the
 *                 product of the number of columns fold onto the columns, the others onto the rows: neighbours in the first
 *                 dimension of each are neighbours. Without such dimensions all fold onto that walk
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
    struct schedule *schedule;
    struct schedule_notes notes;
    struct schedule_groups groups;
    struct schedule_choices *choices;
    struct executor_plan executor;
    uint32_t *host;         /* [ranks] */
    uint32_t *destinations; /* [ranks]: upper bound of ranks that it sends to */
    uint32_t *peers;        /* [ranks]: upper bound of ranks that it sends to or receives from */
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
    SCHEDULE_PLAN_ENTRIES = 1 << 24 /* of a job, most that are kept: half a gigabyte */
};

/* Plans all jobs with a schedule, after traffic_init(). Returns false and sets *problem if a file is no schedule, if it
 * has more ranks than the job has hosts, or if the placement does not fit. *t must outlive *p. */
bool schedule_plan_init(struct schedule_plan *p, const struct traffic *t, struct hx_problem *problem);
void schedule_plan_free(struct schedule_plan *p);

/* Schedule with a rank on this host; NULL: none. */
static inline const struct schedule_job *schedule_job_of(const struct schedule_plan *p, uint32_t host)
{
    return p->job_of[host] ? &p->job[p->job_of[host] - 1] : NULL;
}

/* Bytes of all executors and of their entries. */
uint64_t schedule_plan_memory(const struct schedule_plan *p);

/* Whether every operation of every schedule ended. */
bool schedule_plan_is_done(const struct schedule_plan *p);
/* Activity of all ranks. If two looks have !any and equal sums, sent == arrived, then nothing goes on by itself. */
struct schedule_activity {
    uint64_t sent, arrived; /* messages */
    bool any;               /* a rank is active */
};
struct schedule_activity schedule_plan_activity(const struct schedule_plan *p);
/* Operations, with repeats. A repeat itself counts once. */
struct schedule_progress {
    uint64_t ended, open; /* open: in progress */
};
/* Adds those of a host's rank, if it has one. */
void schedule_plan_add(const struct schedule_plan *p, uint32_t host, struct schedule_progress *sum);
/* Operations that ended, and all, with repeats. */
uint64_t schedule_plan_ended(const struct schedule_plan *p);
double schedule_plan_operations(const struct schedule_plan *p);

#endif
