/* fault_log.h - all begun faults of a running fabric, for capturing processes.
 *
 *     supervisor                                       process that captures
 *     appends an entry to its file
 *     raises control->faults.begun                ->   reads new entries
 *     rewrites over_ns when a line changes it
 *     writes followed_ns
 *     raises control->faults.settled              ->   reads it of entries below
 *
 * The file is anonymous memory, so none is left behind. control->faults names the supervisor's descriptor, as a slot
 * does (taps.h). A reader may see an over_ns that is half written, and reads again. */
#ifndef FAULT_LOG_H
#define FAULT_LOG_H

#include "fabric.h"

/* Times in ns since control->started_ns. */
struct fault_entry {
    uint64_t at_ns;
    uint64_t over_ns;     /* end as scheduled: a later line may end it sooner; UINT64_MAX: it stays */
    uint64_t followed_ns; /* of a planned change, below control->faults.settled: when all workers route by it */
    uint64_t planned;     /* 1: it is a planned change, no fault */
    char line[HX_FAULT_TEXT];
};

/* ---- supervisor ---- */

#define FAULT_NOT_LOGGED UINT64_MAX

/* Creates an empty file and registers it in the control. Returns its descriptor, or -errno. */
int fault_log_make(struct fab_control *control);
/* Returns the entry's number; FAULT_NOT_LOGGED: no memory. */
uint64_t fault_log_add(struct fab_control *control, int log, const struct fault_entry *entry);
void fault_log_end(int log, uint64_t number, uint64_t over_ns);
void fault_log_followed(int log, uint64_t number, uint64_t followed_ns);
/* All planned changes before the entry `unfollowed`, or all begun ones, are followed. */
void fault_log_settle(struct fab_control *control, uint64_t unfollowed);

/* ---- process that captures ---- */

/* Returns a descriptor, or -errno. */
int fault_log_open(const struct fab_control *control);
/* Reads an entry below control->faults.begun. Returns false: it cannot be read. */
bool fault_log_read(int log, uint64_t number, struct fault_entry *entry);

#endif
