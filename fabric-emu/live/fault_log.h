/* fault_log.h - all begun faults of a running fabric, for capturing processes.
 *
 *     supervisor                                       process that captures
 *     appends an entry to its file
 *     raises control->faults.begun                ->   reads new entries
 *     rewrites over_ns when a line changes it
 *
 * The file is anonymous memory, so none is left behind. control->faults names the supervisor's descriptor, as a slot
 * does (taps.h). A reader may see an over_ns that is half written, and reads again. */
#ifndef FAULT_LOG_H
#define FAULT_LOG_H

#include "fabric.h"

/* Times in ns since control->started_ns. */
struct fault_entry {
    uint64_t at_ns;
    uint64_t over_ns; /* end as scheduled: a later line may end it sooner; UINT64_MAX: it stays */
    char line[HX_FAULT_TEXT];
};

/* ---- supervisor ---- */

#define FAULT_NOT_LOGGED UINT64_MAX

/* Creates an empty file and registers it in the control. Returns its descriptor, or -errno. */
int fault_log_make(struct fab_control *control);
/* Returns the entry's number; FAULT_NOT_LOGGED: no memory. */
uint64_t fault_log_add(struct fab_control *control, int log, const struct fault_entry *entry);
void fault_log_end(int log, uint64_t number, uint64_t over_ns);

/* ---- process that captures ---- */

/* Returns a descriptor, or -errno. */
int fault_log_open(const struct fab_control *control);
/* Reads an entry below control->faults.begun. Returns false: it cannot be read. */
bool fault_log_read(int log, uint64_t number, struct fault_entry *entry);

#endif
