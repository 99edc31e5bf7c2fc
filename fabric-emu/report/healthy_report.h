/* healthy_report.h - what faults cost: figures of a run beside those of the same run without its faults. */
#ifndef HEALTHY_REPORT_H
#define HEALTHY_REPORT_H

#include "spec/faults/faults.h"

#include <jansson.h>

struct healthy_figures {
    double seconds; /* of the measured interval; of schedules, until the last operation ended */
    double gbps;    /* payload delivered, a host */
};

/* The host that keeps the least share of its links. Links count in all planes. */
struct links_left {
    uint32_t host;
    unsigned links, dead; /* dead 0: each host keeps all */
};

struct healthy {
    struct healthy_figures without; /* the faults */
    struct links_left left;
};

/* Counts links that are down or closed in the end. Of a host that forwards, its router's. */
struct links_left links_left_of(const struct hx_faults *faults, const struct hx_fabric *f);

/* Prints for a person, on stdout; returns a new JSON reference. with: figures of the run with the faults. */
void healthy_report_print(const struct healthy *h, const struct healthy_figures *with, const struct hx_fabric *f);
json_t *healthy_report_json(const struct healthy *h, const struct healthy_figures *with, const struct hx_fabric *f);

#endif
