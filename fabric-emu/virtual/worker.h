/* worker.h - a worker of a virtual fabric: window after window until everybody is done. */
#ifndef VIRTUAL_WORKER_H
#define VIRTUAL_WORKER_H

#include "model.h"

/* Runs in a process of its own; never returns. */
_Noreturn void worker_run(const struct model *m, unsigned self);

#endif
