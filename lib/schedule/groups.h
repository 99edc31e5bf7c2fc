/* groups.h - the groups of each rank's collectives, and the position of a rank in a group. */
#ifndef SCHEDULE_GROUPS_H
#define SCHEDULE_GROUPS_H

#include "schedule/schedule.h"

struct schedule_groups {
    uint32_t *first;    /* [ranks + 1]: index of a rank's first group in `of` */
    uint32_t *of;       /* groups of each rank, in the order of their first use */
    uint32_t *position; /* [members]: positions in a group, by ascending rank */
    unsigned bits;      /* of the number of a group among those of a rank */
};

void schedule_groups_make(struct schedule_groups *g, const struct schedule *s);
void schedule_groups_free(struct schedule_groups *g);

enum { SCHEDULE_NO_POSITION = UINT32_MAX };
/* Position of a rank in a group; SCHEDULE_NO_POSITION: it is no member. */
uint32_t schedule_groups_position(const struct schedule_groups *g, const struct schedule *s, uint32_t group,
                                  uint32_t rank);
/* Number of a group among those of a rank, and back; SCHEDULE_NO_POSITION: the rank has no collective of it. */
uint32_t schedule_groups_number(const struct schedule_groups *g, uint32_t rank, uint32_t group);
uint32_t schedule_groups_at(const struct schedule_groups *g, uint32_t rank, uint32_t number);

#endif
