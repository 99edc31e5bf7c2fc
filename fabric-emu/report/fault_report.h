/* fault_report.h - the cost of faults (spec/faults/faults.h), in one form under both clocks.
 *
 * Traffic is repaired when each message that was hit is acknowledged or reported as failed to its sender. The clocks
 * differ in what they know of hits:
 *
 *          virtual clock                          live
 *  hit     a message with a packet or             a message with repeated packets, or a failed one, after
 *          acknowledgement that the fault         the fault began, whichever fault caused it
 *          lost or damaged
 *  hits    such packets                           such messages, until traffic was repaired
 *  whole   end of the last hit message;           the same, but not before a lasting fault (impairs, flaps, stopped)
 *          0: no hit                              ends; without a hit: its begin, or that end */
#ifndef FAULT_REPORT_H
#define FAULT_REPORT_H

#include "spec/faults/faults.h"

#include <jansson.h>

struct fault_report {
    const char *text; /* its line in the schedule */
    uint64_t at_ns;
    struct hx_fault_cost cost;
    uint64_t hits;
    bool whole;        /* traffic was repaired before the end */
    uint64_t whole_ns; /* since the start of the run */
};

/* An entry of "faults" of the report, and the whole list. New references. */
json_t *fault_report_entry(const struct fault_report *fault);
json_t *fault_report_json(const struct fault_report *fault, size_t count);
/* Prints the costliest faults and the number of all, on stdout. */
void fault_report_print(const struct fault_report *fault, size_t count);

#endif
