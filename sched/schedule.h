/* schedule.h - a queue of jobs over time on the boards of one HammingMesh, or the hosts of another fabric: who starts
 * when, who waits, what fails.
 *
 *     arrivals -> queue -> placed on boards -> ended, or begun again when one of its boards fails
 *
 * Jobs wait in the order in which they arrive. FIRST_COME: the first one starts as soon as it finds boards, and the
 * others wait behind it. BACKFILL: while the first one waits, those behind it start where that does not delay it: the
 * time at which it will find boards, if all that runs ends as announced, is worked out, and whoever starts must have
 * ended by then or leave it its boards.
 *
 * Boards fail one by one, each after a time drawn from an exponential distribution, and are back after another. A job
 * of which a board fails is put in front of the queue and begins anew; after HX_MOST_RESTARTS times it is given up.
 *
 * Hosts of another fabric are one row of boards, by number; a job has as many as its shape has boards, wherever
 * hx_place_hosts() finds them. Boards that are taken from the start never come back.
 *
 * Times are seconds. What comes out is a function of the jobs, the rules and the seed alone. */
#ifndef HXMESH_SCHED_SCHEDULE_H
#define HXMESH_SCHED_SCHEDULE_H

#include "sched/hosts.h"
#include "sched/placement.h"

enum { HX_MOST_RESTARTS = 1000 };

enum hx_queue_policy { HX_FIRST_COME, HX_BACKFILL, HX_QUEUE_POLICIES };
extern const char *const hx_queue_policy_names[HX_QUEUE_POLICIES + 1]; /* "first-come", "backfill", NULL */

struct hx_schedule_job {
    double arrival, duration; /* asked */
    struct hx_shape shape;
    double start, end; /* came out, of its last start; start < 0: it never ran */
    unsigned restarts;
    bool refused; /* would not even fit onto an empty fabric: it never arrives */
    struct hx_placement placement;
};

struct hx_schedule_rules {
    unsigned columns, rows;
    const bool *taken;              /* [rows * columns]: boards that failed, or are another's, for good; NULL: none */
    const struct hx_fabric *fabric; /* whose hosts they are; NULL: boards of a HammingMesh */
    unsigned place;                 /* enum hx_hosts_rule, for hosts */
    unsigned policy;                /* enum hx_queue_policy */
    struct hx_placement_rules placement;
    double mean_time_between_failures; /* of one board; 0: none fails */
    double mean_time_to_repair;
    uint64_t seed;
};

/* What there was from one moment on. */
struct hx_schedule_moment {
    double at;
    uint32_t used, failed; /* boards */
    uint32_t waiting;      /* jobs that have arrived and wait */
    uint32_t stuck;        /* free boards while the first job that waits asks for no more than that and finds no room */
};

struct hx_schedule {
    struct hx_schedule_job *job; /* the caller's, in order of arrival */
    uint32_t jobs;
    struct hx_schedule_moment *moment; /* [moments]: one for each time at which something changed */
    uint32_t moments;
    uint32_t failures, restarts, refused, given_up;
    double end; /* of the last job */
    /* Shares of the boards that have not failed, over the time from the first arrival of a job that is not refused
     * to the end. */
    double utilization, fragmentation; /* fragmentation: of `stuck` */
};

/* `job` in order of arrival. hx_schedule_free() afterwards, which leaves the jobs. */
void hx_schedule_run(struct hx_schedule *out, const struct hx_schedule_rules *rules, struct hx_schedule_job *job,
                     uint32_t jobs);
void hx_schedule_free(struct hx_schedule *s);

#endif
