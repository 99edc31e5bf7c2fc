/* placement.h - hosts for the ranks of a schedule or a collective (schedule_plan.h lists the placements). */
#ifndef WORKLOAD_PLACEMENT_H
#define WORKLOAD_PLACEMENT_H

#include "schedule/schedule.h"
#include "workload/traffic.h"

/* Fills host[ranks] from the hosts of the job that host `member` is in; it has at least `ranks` hosts. how: a
 * placement, or NULL: linear. dimension: [SCHEDULE_MOST_DIMENSIONS] of the schedule's grid (struct schedule_head);
 * NULL: the ranks have a collective. Returns false and sets *problem. */
bool placement_make(uint32_t *host, uint32_t ranks, const struct traffic *t, uint32_t member, const char *how,
                    const uint32_t *dimension, struct hx_problem *problem);

#endif
