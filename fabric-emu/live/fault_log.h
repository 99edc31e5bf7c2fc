/* fault_log.h - faults of a running fabric that have begun, all of them, for who captures.
 *
 *     supervisor                                       process that captures
 *     appends an entry to its file
 *     raises control->faults.begun                ->   reads what is new
 *     writes over_ns anew when a line changes it
 *
 * The file is memory without a name, so nothing is left behind: control->faults says whose descriptor it is, as a slot
 * does (taps.h). It grows by an entry a fault, as the schedule does that the supervisor keeps. Who reads may meet an
 * over_ns that is just being written, and looks again. */
#ifndef FAULT_LOG_H
#define FAULT_LOG_H

#include "fabric.h"

/* Times count from control->started_ns. */
struct fault_entry {
    uint64_t at_ns;
    uint64_t over_ns; /* when it is over as far as is known: a later line may make it sooner; UINT64_MAX: it stays */
    char line[HX_FAULT_TEXT];
};

/* ---- supervisor ---- */

#define FAULT_UNTOLD UINT64_MAX

/* A new file, without entries, that the control speaks of. Returns its descriptor, or -errno. */
int fault_log_make(struct fab_control *control);
/* Returns its number, FAULT_UNTOLD: there is no memory for it. */
uint64_t fault_log_add(struct fab_control *control, int log, const struct fault_entry *entry);
void fault_log_end(int log, uint64_t number, uint64_t over_ns);

/* ---- process that captures ---- */

/* Returns a descriptor, or -errno. */
int fault_log_open(const struct fab_control *control);
/* The entry of a number below control->faults.begun; false: it cannot be read. */
bool fault_log_read(int log, uint64_t number, struct fault_entry *entry);

#endif
