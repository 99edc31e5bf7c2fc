/* supervisor.h - starts the workers, watches them, and ends the run. It never forwards a packet.
 *
 *     STARTING -> RUNNING -> DRAINING (time over, or interrupted) -> STOPPING
 *
 * A worker that dies by a signal takes its nodes down; its boards are barred, its buffers are sent home, and a new
 * process takes its place (unless told not to). A worker that ends with an exit code ends the run with it; so do one
 * that the kernel killed because memory ran out (4), and one that dies again and again before it can run (1). */
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
    uint64_t duration_ns;    /* 0: until everything is sent and acknowledged */
    bool restart;            /* dead workers */
    pid_t netns_holder;      /* of the hosts' namespaces: the run ends with it; 0: none */
    void (*begun)(void *of); /* called when all workers run; NULL: nobody wants to know */
    void *of;
    struct attachments *attachments; /* for programs; NULL: none */
    struct external *external;       /* accelerators that run elsewhere */
    struct faults *faults;           /* what goes wrong meanwhile */
    struct progress *progress;
    struct warm_up *warm_up;
};

/* Blocks SIGINT, SIGTERM and SIGHUP, so that they are taken only by supervisor_run(). Call before anything is
 * created. */
void supervisor_block_signals(void);

void supervisor_run(const struct run_plan *plan, struct outcome *outcome);

#endif
