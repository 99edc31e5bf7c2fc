/* layout.h - where the arrays of a schedule lie behind its head. */
#ifndef SCHEDULE_LAYOUT_H
#define SCHEDULE_LAYOUT_H

#include "schedule/schedule.h"

/* Sets the pointers of *s for a head at `base`, which has its counts. Returns the bytes of the whole; 0: the counts
 * exceed 64 bits. */
uint64_t schedule_place(struct schedule *s, const void *base);

/* A head with the magic and the version, and no counts. */
struct schedule_head schedule_head_new(uint32_t ranks);

#endif
