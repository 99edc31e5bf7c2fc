/* worker.h - a worker process: sweeps over its nodes until the supervisor stops it, and sleeps when idle. */
#ifndef WORKER_H
#define WORKER_H

#include "clock.h"
#include "node.h"

/* What every worker gets from the supervisor. */
struct duty {
    const struct fab_fabric *f;
    struct workload_plan workload;
    struct wire *wire; /* [spec.externals][HX_CABLE_PORTS], open (external.h) */
    struct shm_clock clock;
};

/* Runs worker `self` in a forked child. Never returns. */
_Noreturn void worker_run(const struct duty *duty, unsigned self);

#endif
