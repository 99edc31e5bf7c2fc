/* validate.h - whether what workers counted can be true: a stray store into the shared memory must not end as a
 * report. */
#ifndef VALIDATE_H
#define VALIDATE_H

#include "fabric-emu/report/result.h"
#include "fabric.h"

/* Call when no worker runs. traffic: NULL or of the run; where it says how many messages an accelerator sends, that is
 * the most it can have begun. false: *problem says which worker's counts cannot be true. */
bool validate_counts(const struct fab_fabric *f, const struct traffic *traffic, const struct outcome *outcome,
                     struct hx_problem *problem);

#endif
