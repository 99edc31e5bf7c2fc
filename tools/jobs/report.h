/* report.h - what came of a schedule: a table, JSON, a line for each job as CSV, use and waiting over time as SVG. */
#ifndef HXMESH_TOOLS_JOBS_REPORT_H
#define HXMESH_TOOLS_JOBS_REPORT_H

#include "sched/schedule.h"

#include <jansson.h>

void schedule_print(const struct hx_schedule *s, const struct hx_schedule_rules *rules, const char *fabric);
json_t *schedule_json(const struct hx_schedule *s, const struct hx_schedule_rules *rules, const char *fabric);
void schedule_write_csv(const struct hx_schedule *s, const char *path);
void schedule_plot(const struct hx_schedule *s, const struct hx_schedule_rules *rules, const char *fabric,
                   const char *path);

#endif
