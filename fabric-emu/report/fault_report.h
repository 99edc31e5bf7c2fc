/* fault_report.h - the cost of faults and of planned changes (spec/faults/faults.h), in one form under both clocks.
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
 *          0: no hit                              ends; without a hit: its begin, or that end
 *
 * A planned change has no cost. Instead of repair it has the time when all routes follow it. */
#ifndef FAULT_REPORT_H
#define FAULT_REPORT_H

#include "spec/faults/faults.h"

#include <jansson.h>

struct fault_report {
    const char *text; /* its line in the schedule */
    bool planned;     /* a closed link: no fault. whole: all routes follow; cost and hits are 0 */
    uint64_t at_ns;
    struct hx_fault_cost cost;
    uint64_t hits;
    bool whole;        /* traffic was repaired before the end */
    uint64_t whole_ns; /* since the start of the run */
};

/* Links that were closed as planned. */
struct circuits_report {
    size_t links;       /* that were closed at any time of the run; 0: none */
    size_t changes;     /* times at which links closed or opened */
    uint64_t closed_ns; /* for which links were closed, added up over links */
    uint64_t rerouted;  /* packets that waited for a link when it closed, so that they took another path */
    /* Live: ns until all nodes routed by a line, median and most. Simulated routes follow at once. */
    uint64_t median_ns, most_ns;
    size_t followed; /* lines of which that is known; 0: simulated */
};
/* Finds .links, .changes and .closed_ns, until `until_ns` of the run. */
struct circuits_report circuits_report_of(const struct hx_faults *faults, const struct hx_fabric *f, uint64_t until_ns);
/* Finds when all nodes followed the planned ones among the faults of a live run. */
void circuits_report_follow(struct circuits_report *circuits, const struct fault_report *fault, size_t count);
json_t *circuits_report_json(const struct circuits_report *circuits);
void circuits_report_print(const struct circuits_report *circuits);

/* An entry of "faults" or "changes" of the report. A new reference. */
json_t *fault_report_entry(const struct fault_report *fault);
/* The number of faults (or changes, if `planned`) among all, and their list. A new reference. */
size_t fault_report_count(const struct fault_report *fault, size_t count, bool planned);
json_t *fault_report_json(const struct fault_report *fault, size_t count, bool planned);
/* Prints the costliest faults, the changes that routes followed last, and the numbers of all, on stdout. */
void fault_report_print(const struct fault_report *fault, size_t count);

#endif
