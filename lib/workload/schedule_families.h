/* schedule_families.h - groups of a schedule that do the same collective and have no rank in common. They mostly do it
 * at one time, so one algorithm is chosen for all of them. */
#ifndef SCHEDULE_FAMILIES_H
#define SCHEDULE_FAMILIES_H

#include "base/blobs.h"
#include "schedule/schedule.h"

struct schedule_families {
    const struct schedule *schedule;
    struct hx_blobs keys; /* the different collectives, without their roots */
    unsigned *algorithm;  /* [keys]: enum hx_algorithm; 0: not chosen */
    bool *taken;          /* [ranks]: of the family that is found */
};

void schedule_families_open(struct schedule_families *f, const struct schedule *s);
void schedule_families_close(struct schedule_families *f);

/* Sets the groups of a collective's family, its own first, and returns their number. groups: [schedule groups]. */
uint32_t schedule_families_find(struct schedule_families *f, const struct schedule_operation *o, uint32_t *groups);

/* The algorithm of a collective of a group, from schedule_families_set(); 0: none. */
unsigned schedule_families_algorithm(const struct schedule_families *f, const struct schedule_operation *o);
void schedule_families_set(struct schedule_families *f, const struct schedule_operation *o, const uint32_t *groups,
                           uint32_t count, unsigned algorithm);

#endif
