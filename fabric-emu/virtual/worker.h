/* worker.h - a worker of a virtual fabric: window after window until everybody is done. */
#ifndef VIRTUAL_WORKER_H
#define VIRTUAL_WORKER_H

#include "state.h"

/* Runs in a process of its own; never returns. */
_Noreturn void worker_run(const struct model *m, unsigned self);

/* Its parts, after build_worker(): window after window, until what was combined last says that it is the end; then what
 * the supervisor is told. */
struct virtual_turn worker_windows(struct worker *w);
void worker_report(struct worker *w, const struct virtual_turn *turn);

#endif
