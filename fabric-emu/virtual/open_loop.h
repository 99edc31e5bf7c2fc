/* open_loop.h - phases of a run at a rate for a time, and the messages that its latency counts.
 *
 *     warm-up     until --warm-up; if it is not given, until the load is steady, at most half of --duration
 *     measuring   until --duration. Messages generated in this time are marked
 *     arriving    sources go on at the same rate until all marked messages have arrived, or the limit is reached
 *     stopped     sources send nothing more; what is in flight arrives
 *
 * The limit is half of the measured interval after its end. Marked messages that have not arrived by then make the run
 * unstable, and so does a latency that grows while it is measured (result_stability() in result.h).
 *
 * Steady. The warm-up is tried at each twentieth of the duration. It ends when, from one twentieth to the next, neither
 * the payload delivered nor the mean latency of data packets changed by more than 5 %. A queue that grows all the time
 * changes by more until the twentieth twentieth, so it is not taken for steady.
 *
 * Marks. A message is generated when it is due, and whether it is marked follows from this time alone. Its source owns
 * the count: `marked` of the driver is the number of marked messages begun that have not ended, and their events carry
 * the due time as cookie. So no count crosses workers: an accelerator is active while it has or will have a marked
 * message, and turns add up the active ones. Frames carry the mark to the destination, which counts their latency.
 *
 * All workers decide the same, at the end of a cell (worker.c), from its time and from sums over all workers. So
 * results do not depend on the number of workers. */
#ifndef OPEN_LOOP_H
#define OPEN_LOOP_H

#include "state.h"

/* Sets the times of the phases, and the jobs with marks. Call before drivers start. */
void open_loop_begin(struct worker *w);

/* Whether the messages of an accelerator are generated at the rate until the sources stop. */
bool open_loop_is_of(const struct worker *w, uint32_t rank);

/* At the end of a cell: goes on to the next phase when it is time. `turn`: combined. Returns whether the run goes on
 * though no accelerator is active. When the sources stop, it has returned true, and area->stopped is set: drivers must
 * find out whether they are active (driver_stopped()). */
bool open_loop_goes_on(struct worker *w, const struct virtual_turn *turn);

/* Reports the phases. Call at the end. */
void open_loop_report(const struct worker *w);

/* Whether a message that was due at this time, ps, is marked. */
static inline bool open_loop_marks(const struct worker *w, uint64_t due)
{
    return due >= w->warm && due < w->over;
}

/* Counts a delivered data packet: ps from its generation to its arrival, and the time of its generation. */
static inline void open_loop_count(struct worker *w, bool marked, uint64_t generated, uint64_t took)
{
    struct open_loop *o = &w->open;
    o->now.latency += took;
    o->now.packets++;
    if (!marked)
        return;
    struct model_mean *half = &w->area->half[generated - w->warm >= (w->over - w->warm) / 2];
    half->sum += took;
    half->count++;
}

#endif
