/* faults.h - what each fault of a run was, what it cost, and when traffic was whole again, for reports.
 *
 * A message is hit when packets of it are repeated, or it is given up. Traffic is whole again at the first moment, from the
 * fault on, at which every message that was hit so far has been acknowledged, or its sender was told that it was given
 * up, and after which none is hit for as long as a loss may take to be noticed. Of what goes on losing (an impaired or flapping
 * link) that is counted from its end on. Faults that overlap are whole together. */
#ifndef REPORT_FAULTS_H
#define REPORT_FAULTS_H

#include "host/faults/faults.h"

#include <jansson.h>

struct fault_record {
    char text[HX_FAULT_TEXT];
    bool begun, over, whole; /* over: it has ended, by its time or by another line */
    uint64_t at_ns;          /* from the start of the run; before it has begun: when it is to */
    uint64_t over_ns;        /* when it ended */
    uint64_t whole_ns;
    uint64_t lost; /* packets that it took: cut off, lost or corrupted on its links, or held by a worker that died */
};

/* [{"fault", "begun", "at_seconds", "over_seconds", "packets_lost", "whole_after_seconds"}]: null for what has not been. */
json_t *fault_records_json(const struct fault_record *record, size_t count);
/* Such a list for a person, on stdout: a line a fault. */
void fault_records_print(const json_t *list);

#endif
