/* validate.h - checks that workers' counts are possible: a stray store into shared memory must not become a report. */
#ifndef VALIDATE_H
#define VALIDATE_H

#include "fabric-emu/report/result.h"
#include "fabric.h"

/* Call it when no worker runs. traffic: of the run, which bounds the messages; NULL: unknown. Returns false: *problem
 * names a worker with impossible counts. */
bool validate_counts(const struct fab_fabric *f, const struct traffic *traffic, const struct outcome *outcome,
                     struct hx_problem *problem);

#endif
