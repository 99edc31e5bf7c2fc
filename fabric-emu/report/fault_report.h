/* fault_report.h - what faults (host/faults/faults.h) have cost, the same under both clocks.
 *
 * A message is hit by a fault when one of its packets is lost or damaged for it. Traffic is whole again when every message
 * that a fault hit has been acknowledged, or its sender told that it cannot be delivered. */
#ifndef FAULT_REPORT_H
#define FAULT_REPORT_H

#include "host/faults/faults.h"

#include <jansson.h>

struct fault_report {
    const char *text; /* its line */
    uint64_t at_ns;
    uint64_t lost, corrupted, duplicated, reordered; /* packets */
    uint64_t credits_lost;
    uint64_t hits;     /* packets of messages that it hit */
    bool whole;        /* traffic was whole again before the end */
    uint64_t whole_ns; /* since the start; 0: nothing was hit */
};

/* "faults" of the report: an entry each. A new reference. */
json_t *fault_report_json(const struct fault_report *fault, size_t count);
/* For a person, on stdout: the costliest, and how many there are. */
void fault_report_print(const struct fault_report *fault, size_t count);

#endif
