/* results.h - memory for what the operations of a schedule did (executor_result, executor_entry), shared by the
 * processes that are forked later. */
#ifndef SCHEDULE_RESULTS_H
#define SCHEDULE_RESULTS_H

#include "schedule/executor.h"

struct schedule_results {
    uint64_t *first_entry; /* [ranks + 1] */
    void *shared;
    size_t bytes;
};

/* Allocates an entry for each operation, with repeats; if they exceed `most`, each rank gets its share of `most`. Takes
 * plan->schedule; sets result, entry and first_entry of the plan. Pages take memory when they are first written.
 * Returns false and sets *problem. */
bool schedule_results_make(struct schedule_results *r, struct executor_plan *plan, uint64_t most, const char *where,
                           struct hx_problem *problem);
void schedule_results_free(struct schedule_results *r);

/* Operations of a schedule, with repeats. A repeat itself counts once. */
double schedule_executed(const struct schedule *s);

#endif
