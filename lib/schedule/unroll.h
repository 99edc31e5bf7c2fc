/* unroll.h - a schedule without repeats, for formats that have none. */
#ifndef SCHEDULE_UNROLL_H
#define SCHEDULE_UNROLL_H

#include "schedule/schedule.h"

enum { SCHEDULE_MOST_UNROLLED = 1 << 24 /* operations */ };

/* Whether it has a repeat. */
bool schedule_has_repeats(const struct schedule *s);

/* Returns an equivalent schedule with a copy of each body for each iteration. A compute operation of 0 ps stands
 * for the start of a repeat, and one for the end of each iteration. They are on a stream that nothing else of their
 * rank occupies. The schedule has no collectives. NULL: it would have more than SCHEDULE_MOST_UNROLLED operations, or a
 * rank occupies all streams: sets *problem, with the place `where`. */
struct schedule *schedule_unroll(const struct schedule *s, const char *where, struct hx_problem *problem);

#endif
