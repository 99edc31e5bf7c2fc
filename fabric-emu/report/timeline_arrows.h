/* timeline_arrows.h - which send each receive waited for, among the entries that were kept.
 *
 * A receive knows the send's operation (executor_entry.cause). A send in a repeat has many entries: the receive takes
 * the last one that began before the receive ended and that no later receive has. */
#ifndef TIMELINE_ARROWS_H
#define TIMELINE_ARROWS_H

#include "fabric-emu/report/entries.h"

/* An entry's place among all of the job. */
static inline uint32_t timeline_place(const struct schedule_job *job, const struct executor_entry *e)
{
    return (uint32_t)(e - job->executor.entry);
}

/* Returns for each place: of a send that a receive waited for, 1; of that receive, 1 + the place of the send; else 0.
 * The caller frees it. */
uint32_t *timeline_arrows(const struct schedule_job *job);

#endif
