/* failed_report.h - what sets of failed links did to a fabric (failed_sets.h), for people and as JSON. */
#ifndef HXMESH_TOOLS_FAILED_REPORT_H
#define HXMESH_TOOLS_FAILED_REPORT_H

#include "tools/paths/failed_sets.h"

#include <jansson.h>

void hx_failed_print(const struct hx_failed_sets *f, const struct hx_fabric *g);
json_t *hx_failed_json(const struct hx_failed_sets *f, const struct hx_fabric *g);

#endif
