/* ordinals.h - numbers of a rank's collectives in their groups.
 *
 * The n-th collective of a group at one member belongs to the n-th at every other. The order is that of the
 * operations, with repeats written out. It does not depend on time. */
#ifndef SCHEDULE_ORDINALS_H
#define SCHEDULE_ORDINALS_H

#include "schedule/groups.h"

/* Tables by [body][group of the rank]; body 0: outside of all repeats, body i: of the i-th repeat. */
struct schedule_ordinals {
    uint32_t groups;
    uint32_t *body; /* [operations]: body that it is in */
    uint32_t *own; /* [operations]: of a repeat: its body; of a collective: how many precede it in its body and group */
    uint32_t *parent; /* [bodies]: body around it */
    uint32_t *repeat; /* [bodies]: its operation */
    uint64_t *each;   /* collectives in one iteration */
    uint64_t *before; /* collectives before the repeat in the body around it */
    uint32_t bodies;
};

void schedule_ordinals_make(struct schedule_ordinals *n, const struct schedule *s, const struct schedule_groups *g,
                            uint32_t rank);
void schedule_ordinals_free(struct schedule_ordinals *n);

/* Number of a collective in its group, from 0. iteration: current one of each repeat, by operation; NULL: no
 * repeats. */
uint64_t schedule_ordinal(const struct schedule_ordinals *n, uint32_t operation, uint32_t group,
                          const uint64_t *iteration);

#endif
