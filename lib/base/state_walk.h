/* state_walk.h - a walk over the fields of a simulated state, to find out whether it repeats.
 *
 * Two states of one system are alike at a distance of `period` ps if each field keeps its rule from the earlier to the
 * later one. A deterministic system then goes on from the later state as it went on from the earlier one, that much
 * later. So each field changes by the same difference in each further period. The walk visits the same fields in the
 * same order whenever the states are alike. */
#ifndef STATE_WALK_H
#define STATE_WALK_H

#include <stdint.h>

enum state_rule {
    STATE_EQUAL, /* stays, and identifies the state */
    STATE_STILL, /* stays */
    STATE_TIME,  /* moves by the period; its distance from the present identifies the state; ps */
    STATE_NOTE,  /* a time that decides nothing later: moves by the period or stays; ps */
    STATE_COUNT, /* decides nothing later: any difference */
    STATE_BASE,  /* a count to which the next fields of STATE_INDEX belong */
    STATE_INDEX  /* stays, or moves by the difference of the base */
};

struct state_walk {
    /* bytes: 1, 2, 4 or 8 */
    void (*field)(struct state_walk *w, void *at, unsigned bytes, enum state_rule rule);
};

/* Visits an integer or bool. */
#define STATE_FIELD(w, x, rule) (w)->field((w), (void *)&(x), (unsigned)sizeof(x), (rule))

/* Visits a value that is computed. */
static inline void state_walk_value(struct state_walk *w, uint64_t value, enum state_rule rule)
{
    w->field(w, &value, sizeof value, rule);
}

#endif
