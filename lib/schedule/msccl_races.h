/* msccl_races.h - finds two unordered steps that touch one cell: vector clocks of the thread blocks. */
#ifndef SCHEDULE_MSCCL_RACES_H
#define SCHEDULE_MSCCL_RACES_H

#include "schedule/msccl_plan.h"

struct msccl_races;

/* Returns NULL if the plan is too large for it. */
struct msccl_races *msccl_races_new(const struct msccl_plan *plan);
/* NULL is allowed. */
void msccl_races_free(struct msccl_races *r);

/* The step happens: all that it waits for has. Returns false and sets *problem if an unordered step touched one of its
 * cells. r NULL: true. */
bool msccl_races_step(struct msccl_races *r, uint32_t step, struct hx_problem *problem);
/* `later` waits for `earlier`, which was the last step of its thread block to happen. */
void msccl_races_wait(struct msccl_races *r, uint32_t later, uint32_t earlier);

#endif
