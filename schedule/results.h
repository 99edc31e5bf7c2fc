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

/* Makes room for an entry of each operation, with repeats, but for `most` in all, in proportion; sets result, entry and
 * first_entry of the plan; its schedule is set. Untouched entries take no memory. Returns false and sets *problem. */
bool schedule_results_make(struct schedule_results *r, struct executor_plan *plan, uint64_t most, const char *where,
                           struct hx_problem *problem);
void schedule_results_free(struct schedule_results *r);

/* Operations of a schedule with repeats; a block that repeats is one. */
double schedule_executed(const struct schedule *s);

#endif
