/* worker.h - a worker of a virtual fabric: simulates window after window until all accelerators are done. */
#ifndef VIRTUAL_WORKER_H
#define VIRTUAL_WORKER_H

#include "state.h"

/* Runs a worker in its own process; never returns. */
_Noreturn void worker_run(const struct model *m, unsigned self);

/* Its parts, after build_worker(). worker_windows() simulates until the combined turn ends the run, and returns that
 * turn. worker_report() then writes the report for the supervisor. */
struct virtual_turn worker_windows(struct worker *w);
void worker_report(struct worker *w, const struct virtual_turn *turn);

#endif
