/* goal.h - shared by both forms of GOAL (goal.c: text, goal_binary.c: binary). */
#ifndef SCHEDULE_GOAL_H
#define SCHEDULE_GOAL_H

#include "schedule/schedule.h"

enum { GOAL_PS = 1000 /* ps of GOAL's unit of time, 1 ns */ };
#define GOAL_MOST_TIME (SCHEDULE_MOST_TIME / GOAL_PS)

/* Checks that GOAL can express the schedule, and unrolls its repeats. Returns the schedule to write: s, or one that the
 * caller closes; NULL: sets *problem. Warns of times that are rounded. `where` names the file. */
struct schedule *schedule_goal_plain(const struct schedule *s, const char *where, struct hx_problem *problem);

/* Writes the text (goal_write.c). */
bool schedule_goal_write(const struct schedule *s, const char *path, struct hx_problem *problem);

/* A computing time in GOAL's unit, to the nearest. */
static inline uint64_t schedule_goal_time(uint64_t ps)
{
    return (ps + GOAL_PS / 2) / GOAL_PS;
}

#endif
