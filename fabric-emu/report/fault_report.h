/* fault_report.h - what faults (spec/faults/faults.h) have cost, in one form under both clocks.
 *
 * Traffic is whole again when every message that was hit has been acknowledged, or its sender told that it cannot be
 * delivered. What is hit is known more or less well:
 *
 *              virtual clock                              live
 *     hit      a message one of whose packets, or         a message of which packets were repeated, or that was given up,
 *              of whose acknowledgements, this fault      after this fault began: for whichever fault
 *              lost or damaged
 *     hits     such packets                               such messages, until traffic was whole
 *     whole    when the last of them was settled;         likewise, but of what goes on (impairs, flaps, stopped) not before
 *              0: nothing was hit                         it ends; its begin, or that end: nothing was hit */
#ifndef FAULT_REPORT_H
#define FAULT_REPORT_H

#include "spec/faults/faults.h"

#include <jansson.h>

struct fault_report {
    const char *text; /* its line */
    uint64_t at_ns;
    struct hx_fault_cost cost;
    uint64_t hits;
    bool whole;        /* traffic was whole again before the end */
    uint64_t whole_ns; /* since the start */
};

/* An entry of "faults" of the report, and all of it. New references. */
json_t *fault_report_entry(const struct fault_report *fault);
json_t *fault_report_json(const struct fault_report *fault, size_t count);
/* For a person, on stdout: the costliest, and how many there are. */
void fault_report_print(const struct fault_report *fault, size_t count);

#endif
