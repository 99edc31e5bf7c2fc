/* bandwidth_report.h - divisions of a budget side by side, as text and as JSON. */
#ifndef HXMESH_TOOLS_BANDWIDTH_REPORT_H
#define HXMESH_TOOLS_BANDWIDTH_REPORT_H

#include "tools/bandwidth/packets.h"
#include "tools/bandwidth/ways.h"

#include <jansson.h>

/* A division and its results. */
struct bandwidth_line {
    const char *name;
    double rate[BANDWIDTH_DIMENSIONS]; /* bytes a second */
    double dollars;
    struct bandwidth_time estimate;
    struct bandwidth_time packets; /* .iteration 0: not simulated */
    struct bandwidth_run run[BANDWIDTH_NEEDS];
};

/* The first line is what others are compared with. */
struct bandwidth_report {
    const struct bandwidth_question *question;
    unsigned lines;
    struct bandwidth_line line[BANDWIDTH_WAYS + 1];
};

void bandwidth_print(const struct bandwidth_report *r);
json_t *bandwidth_json(const struct bandwidth_report *r);

#endif
