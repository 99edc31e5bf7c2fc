/* job_queue.h - simulates a queue of jobs over time on the boards of a HammingMesh, or the hosts of another fabric.
 *
 *     arrivals -> queue -> placed on boards -> ended, or restarted when one of its boards fails
 *
 * Jobs wait in the order of arrival. FIRST_COME: the first job starts when it finds boards; the others wait behind it.
 * BACKFILL: while the first job waits, later ones start if they do not delay it. Its start is computed from the
 * announced ends of running jobs. A job that starts earlier must end by then, or leave it enough boards.
 *
 * Boards fail one by one, with exponentially distributed times to failure and to repair. When a board fails, its job
 * goes to the front of the queue and restarts; after HX_MOST_RESTARTS restarts it is given up.
 *
 * Hosts of another fabric are one row of boards, by number; hx_place_hosts() chooses them, as many as the job's shape
 * has boards. Boards that are taken at the start never become free.
 *
 * Times are seconds. The result is a function of the jobs, the rules and the seed. */
#ifndef HXMESH_ALLOCATION_JOB_QUEUE_H
#define HXMESH_ALLOCATION_JOB_QUEUE_H

#include "allocation/hosts.h"
#include "allocation/placement.h"

enum { HX_MOST_RESTARTS = 1000 };

enum hx_queue_policy { HX_FIRST_COME, HX_BACKFILL, HX_QUEUE_POLICIES };
extern const char *const hx_queue_policy_names[HX_QUEUE_POLICIES + 1]; /* "first-come", "backfill", NULL */

struct hx_schedule_job {
    double arrival, duration; /* given */
    struct hx_shape shape;
    double start, end; /* result of the last start; start < 0: it never ran */
    unsigned restarts;
    bool refused; /* does not fit onto an empty fabric: it never arrives */
    struct hx_placement placement;
};

struct hx_schedule_rules {
    unsigned columns, rows;
    const bool *taken;              /* [rows * columns]: boards that are never available; NULL: none */
    const struct hx_fabric *fabric; /* fabric of the hosts; NULL: boards of a HammingMesh */
    unsigned place;                 /* enum hx_hosts_rule, for hosts */
    unsigned policy;                /* enum hx_queue_policy */
    struct hx_placement_rules placement;
    double mean_time_between_failures; /* of one board; 0: no failures */
    double mean_time_to_repair;
    uint64_t seed;
};

/* State from a time on. */
struct hx_schedule_moment {
    double at;
    uint32_t used, failed; /* boards */
    uint32_t waiting;      /* jobs that arrived and wait */
    uint32_t stuck;        /* free boards, if the first waiting job needs no more and yet finds no room */
};

struct hx_schedule {
    struct hx_schedule_job *job; /* the caller's, by arrival */
    uint32_t jobs;
    struct hx_schedule_moment *moment; /* [moments]: one for each time of a change */
    uint32_t moments;
    uint32_t failures, restarts, refused, given_up;
    double end; /* of the last job */
    /* Shares of living boards, over the time from the first arrival of a job that is not refused to the end. */
    double utilization, fragmentation; /* fragmentation: mean of `stuck` */
};

/* Simulates jobs, given by arrival. hx_schedule_free() frees the result, without the jobs. */
void hx_schedule_run(struct hx_schedule *out, const struct hx_schedule_rules *rules, struct hx_schedule_job *job,
                     uint32_t jobs);
void hx_schedule_free(struct hx_schedule *s);

#endif
