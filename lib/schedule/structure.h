/* structure.h - invariants of every schedule, built or mapped. */
#ifndef SCHEDULE_STRUCTURE_H
#define SCHEDULE_STRUCTURE_H

#include "schedule/schedule.h"

/* Whether, at each rank: operations wait for as many others as they say and never in a circle, dependencies do not
 * cross the bound of a repeated block, blocks are nested and repeated within bounds, and collectives are of groups that
 * the rank is in. The numbers are in range. `where` names the file in *problem. */
bool schedule_check_structure(const struct schedule *s, const char *where, struct hx_problem *problem);

#endif
