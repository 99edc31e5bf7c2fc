/* layout.h - the places of a schedule's arrays behind its head. */
#ifndef SCHEDULE_LAYOUT_H
#define SCHEDULE_LAYOUT_H

#include "schedule/schedule.h"

/* Sets the pointers of *s for a head at `base`, which has its counts. Returns the bytes of head and arrays; 0: they
 * exceed 64 bits. */
uint64_t schedule_place(struct schedule *s, const void *base);

/* A head with the magic and the version, and no counts. */
struct schedule_head schedule_head_new(uint32_t ranks);

#endif
