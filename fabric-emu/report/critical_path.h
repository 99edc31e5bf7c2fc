/* critical_path.h - the critical path of a schedule: the chain of operations that decided when it ended.
 *
 * The chain goes back from the last operation to the begin. Each step is what the step before it waited for: an
 * operation of the same rank that ended or freed a stream, or a send of another rank. Only entries that were kept can
 * be followed (SCHEDULE_PLAN_ENTRIES). */
#ifndef CRITICAL_PATH_H
#define CRITICAL_PATH_H

#include "workload/schedule_plan.h"

#include <jansson.h>

struct critical_step {
    uint32_t rank, operation;
    uint64_t begin, end; /* ps: the part of the operation that the later step waited for */
    bool by_message;     /* the later step is a receive of this send */
};

struct critical_path {
    struct critical_step *step; /* the last operation first */
    size_t steps;
    bool whole; /* leads back to the begin; else to the oldest entry that was kept */
    uint64_t computing_ps, messages_ps, waiting_ps; /* their sum is the length of the path */
    uint64_t collectives_ps;                        /* part of messages_ps */
};

/* Fills *path; the caller frees it. No steps: no entry was kept. */
void critical_path_find(struct critical_path *path, const struct schedule_job *job);
void critical_path_free(struct critical_path *path);

void critical_path_print(const struct schedule_job *job);
json_t *critical_path_json(const struct schedule_job *job);

#endif
