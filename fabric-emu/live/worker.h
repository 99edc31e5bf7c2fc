/* worker.h - a worker process: runs its nodes in sweeps until the supervisor says stop, and sleeps when idle. */
#ifndef WORKER_H
#define WORKER_H

#include "clock.h"
#include "node.h"

/* What the supervisor hands to every worker it forks. */
struct duty {
    const struct fab_fabric *f;
    struct workload_plan workload;
    struct wire *wire; /* [spec.externals][HX_CABLE_PORTS], opened (external.h) */
    struct shm_clock clock;
};

/* Runs worker `self`; never returns. Called in a forked child. */
_Noreturn void worker_run(const struct duty *duty, unsigned self);

#endif
