/* schedule_report.h - the summary of a schedule as text and JSON. */
#ifndef HXMESH_TOOLS_SCHEDULE_REPORT_H
#define HXMESH_TOOLS_SCHEDULE_REPORT_H

#include "schedule/formats.h"
#include "schedule/summary.h"

#include <jansson.h>

struct summary_report {
    const char *path;
    const struct schedule *schedule;
    struct schedule_summary summary;
    struct schedule_notes notes;
    const char *unmatched; /* what lacks its counterpart; NULL: nothing */
};

void summary_print(const struct summary_report *r);
json_t *summary_json(const struct summary_report *r);

#endif
