/* msccl_verify.h - the proof that the sums of a plan are right.
 *
 * The proof is symbolic. Every input chunk is a variable. A cell holds a sum of variables. The steps are executed in a
 * legal order, and the output is compared with what the collective promises. If no two unordered steps touch one cell,
 * every legal order gives the same sums, so one order is a proof. Messages in flight are unlimited: a deadlock of short
 * FIFOs alone is not found. */
#ifndef SCHEDULE_MSCCL_VERIFY_H
#define SCHEDULE_MSCCL_VERIFY_H

#include "schedule/msccl_plan.h"

/* Executes the plan. Returns false and sets *problem if steps wait for each other, two unordered steps touch one chunk,
 * or the output is not what the promise says. Says in *notes what it did not check. */
bool msccl_verify(const struct msccl_plan *plan, struct schedule_notes *notes, struct hx_problem *problem);

#endif
