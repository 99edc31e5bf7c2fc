/* repeats.h - a run that repeats itself exactly goes on by whole periods, without simulating them (--repeats cut).
 *
 * The fabric rests when no packet, credit or acknowledgement is in flight, and each rank computes or waits. All state
 * is small then: operations and their remaining time, credit at rest, pointers of turns. Two such states are alike if
 * they differ in time and in counts alone (base/state_walk.h). The simulation is deterministic, and what it does does
 * not depend on when it does it. So from the later state on it repeats what it did since the earlier one, as long as
 * each repeat of the schedule in progress has an iteration left. All workers agree at a window's end, and each adds
 * the differences of the period to its state, as often as the period is left out. What follows is simulated as ever:
 * from the state that it would have had.
 *
 * What differs between two periods, and why it is no difference:
 *
 *     random numbers     They break ties. A period with a packet that routing offered several outputs is not left out.
 *     first input, VC    They rotate with each step. Where they decided something in the period (order.h), they are
 *                        to be equal; else they go on as far as they would have.
 *     message numbers    Windows and slots use their differences, or their remainder, which decides nothing.
 *     retry timers       Endpoints look for late answers each 250 ms, which may let a packet in earlier. No period
 *                        with such a look is left out.
 *     round trips        Their estimates matter above 250 ms only. Rests must be so frequent that no estimate gets there.
 *     injection rate     A packet's earliest start at that rate must be past at the period's begin.
 *
 * The search: states at rest are kept, as many as fit into some memory. A new one is compared field by field with those
 * of an equal digest. Of the pairs that are alike, the one that leaves out most time counts: it may be of an inner
 * repeat, or of one around it. */
#ifndef REPEATS_H
#define REPEATS_H

#include "state.h"

struct repeats;

/* Before the first window. Like all of a worker, it stays until its process ends. */
struct repeats *repeats_open(struct worker *w);
/* After a window, of all workers: `next` is the next window with an event. Returns it, or a later one after periods
 * that were left out. */
uint64_t repeats_look(struct repeats *r, uint64_t next);

#endif
