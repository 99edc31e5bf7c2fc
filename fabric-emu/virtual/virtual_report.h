/* virtual_report.h - checks and adds up what the workers of a virtual fabric wrote, after all of them ended. */
#ifndef VIRTUAL_REPORT_H
#define VIRTUAL_REPORT_H

#include "fabric-emu/report/result.h"
#include "model.h"

/* Writes *result, with what launch_model() returned as *outcome; free it with result_free(). */
void report_make(const struct model *m, const struct result_context *context, const struct outcome *outcome,
                 struct result *result);

#endif
