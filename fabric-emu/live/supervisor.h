/* supervisor.h - starts the workers, watches them, and ends the run. It never forwards a packet.
 *
 *     STARTING -> RUNNING -> DRAINING (time over, or interrupted) -> STOPPING
 *
 * When a signal kills a worker, its nodes are down, its boards are blocked, and its buffers return to their pools. Then
 * a new process replaces it, if plan.restart is set. The run ends with a worker that exits with a code, that the kernel
 * kills for memory (4), or that dies repeatedly in its set-up (1). */
#ifndef SUPERVISOR_H
#define SUPERVISOR_H

#include "attachments.h"
#include "fabric-emu/report/result.h"
#include "faults.h"
#include "progress.h"
#include "warm_up.h"
#include "worker.h"

struct run_plan {
    struct duty duty;
    uint64_t duration_ns;    /* 0: until all is sent and acknowledged */
    bool restart;            /* restart dead workers */
    pid_t netns_holder;      /* of the hosts' namespaces: the run ends with it; 0: none */
    void (*begun)(void *of); /* called when all workers run; NULL: no call */
    void *of;
    struct attachments *attachments; /* for programs; NULL: none */
    struct external *external;       /* external accelerators */
    struct faults *faults;           /* to carry out in the run */
    struct progress *progress;
    struct warm_up *warm_up;
};

/* Blocks SIGINT, SIGTERM and SIGHUP for supervisor_run(). Call it before anything is created. */
void supervisor_block_signals(void);

void supervisor_run(const struct run_plan *plan, struct outcome *outcome);

#endif
