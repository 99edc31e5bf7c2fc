/* jobs_report.h - results of a schedule: text, JSON, CSV with a line for each job, SVG of use and waiting over time. */
#ifndef HXMESH_TOOLS_JOBS_REPORT_H
#define HXMESH_TOOLS_JOBS_REPORT_H

#include "allocation/job_queue.h"

#include <jansson.h>

void schedule_print(const struct hx_schedule *s, const struct hx_schedule_rules *rules, const char *fabric);
json_t *schedule_json(const struct hx_schedule *s, const struct hx_schedule_rules *rules, const char *fabric);
void schedule_write_csv(const struct hx_schedule *s, const char *path);
void schedule_plot(const struct hx_schedule *s, const struct hx_schedule_rules *rules, const char *fabric,
                   const char *path);

#endif
