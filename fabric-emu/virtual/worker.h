/* worker.h - a worker of a virtual fabric: simulates window after window until all accelerators are done. */
#ifndef VIRTUAL_WORKER_H
#define VIRTUAL_WORKER_H

#include "state.h"
#include "watchdog.h"

/* Runs a worker in its own process; never returns. */
_Noreturn void worker_run(const struct model *m, unsigned self);

/* Its parts, after build_worker(). worker_simulate() simulates until the combined turn ends the run, and returns that
 * turn. worker_report() then writes the report for the supervisor. */
struct virtual_turn worker_simulate(struct worker *w);
void worker_report(struct worker *w, const struct virtual_turn *turn);

/* The windows of a run, one after the other:
 *
 *     worker_windows_begin
 *     do {
 *         worker_window_begin
 *         worker_window_visit    until the end of the window; before that, until any times in ascending order
 *     } while (worker_window_end)
 */
struct worker_windows {
    struct virtual_turn turn; /* the last one */
    struct watchdog dog;
    uint64_t publish_at; /* ns: when counters are due again */
    uint64_t turns;
    uint64_t first, end; /* windows: the first of this turn, and the one after its last */
    uint64_t window;
    const uint64_t *set; /* of `window` */
};

void worker_windows_begin(struct worker *w, struct worker_windows *t);
void worker_window_begin(struct worker *w, struct worker_windows *t);
/* Runs all nodes with events in the window until a time within it, ps. */
void worker_window_visit(struct worker *w, const struct worker_windows *t, uint64_t until);
/* Returns false if the run is over. */
bool worker_window_end(struct worker *w, struct worker_windows *t);
/* Of a single worker: goes on with another window, not before the last one. */
void worker_windows_go(struct worker *w, struct worker_windows *t, uint64_t window);
/* Visits a node on behalf of worker.pauses, in a window until a time. */
void worker_visit_watched(struct worker *w, struct virtual_sim_node *e, uint64_t end);

#endif
