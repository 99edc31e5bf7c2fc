/* entries.h - the entries of a rank's operations that were kept (schedule/executor.h), in the order of their end. */
#ifndef ENTRIES_H
#define ENTRIES_H

#include "workload/schedule_plan.h"

/* Numbers first .. end - 1 were kept; end: all that were written. */
struct entries {
    const struct executor_entry *entry;
    uint64_t room, first, end;
};

static inline struct entries entries_of(const struct schedule_job *job, uint32_t rank)
{
    uint64_t room = job->executor.first_entry[rank + 1] - job->executor.first_entry[rank];
    uint64_t end = job->executor.result[rank].entries;
    uint64_t first = end > room ? end - room : 0;
    return (struct entries){job->executor.entry + job->executor.first_entry[rank], room ? room : 1, first, end};
}

static inline const struct executor_entry *entries_at(const struct entries *k, uint64_t number)
{
    return &k->entry[number % k->room];
}

#endif
