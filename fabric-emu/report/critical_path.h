/* critical_path.h - the chain of operations that decided when a schedule ended, from its end back to its begin.
 *
 * Each step is an operation, and what it waited for before it: nothing (the former operation of the rank freed it), a
 * message, or a stream. Only entries that were kept can be followed (SCHEDULE_PLAN_ENTRIES): `whole` is false if the
 * chain leads out of them. */
#ifndef CRITICAL_PATH_H
#define CRITICAL_PATH_H

#include "workload/schedule_plan.h"

#include <jansson.h>

struct critical_step {
    uint32_t rank, operation;
    uint64_t begin, end; /* ps: the part of the operation that the next one waited for */
    bool by_message;     /* the next one waited for this one's message */
};

struct critical_path {
    struct critical_step *step; /* the last operation first */
    size_t steps;
    bool whole;
    uint64_t computing_ps, messages_ps, waiting_ps; /* shares of the whole */
};

void critical_path_find(struct critical_path *path, const struct schedule_job *job);
void critical_path_free(struct critical_path *path);

void critical_path_print(const struct schedule_job *job);
json_t *critical_path_json(const struct schedule_job *job);

#endif
