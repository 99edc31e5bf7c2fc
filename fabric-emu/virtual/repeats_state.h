/* repeats_state.h - what of a worker's state may repeat (repeats.h). */
#ifndef REPEATS_STATE_H
#define REPEATS_STATE_H

#include "base/state_walk.h"
#include "state.h"

/* Whether nothing of this worker is in flight at `by` ps, before which no event comes. */
bool repeats_state_rests(struct worker *w, uint64_t by);

/* ps: when the first operation of a stream ends; VIRTUAL_NEVER: none. */
uint64_t repeats_state_first(const struct worker *w);

/* Visits all that decides what follows, and all counts. since: ps, begin of the period. */
void repeats_state_walk(struct worker *w, uint64_t since, struct state_walk *walk);

/* The most periods that may be left out from `now` on, but for executors. busy: ps, no round trip took longer. */
uint64_t repeats_state_periods(const struct worker *w, uint64_t now, uint64_t period, uint64_t busy);

/* After the walk has moved times: the next events are in the wheel again, the first of all in `window`. */
void repeats_state_settle(struct worker *w, uint64_t window);

#endif
