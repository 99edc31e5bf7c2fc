/* supervisor.h - starts the workers, watches them, and ends the run. It never forwards a packet.
 *
 *     STARTING -> RUNNING -> DRAINING (time over, or interrupted) -> STOPPING
 *
 * A worker that dies by a signal takes its nodes down; its boards are barred, its buffers are sent home, and a new
 * process takes its place (unless told not to). A worker that ends with an exit code ends the run with it. */
#ifndef SUPERVISOR_H
#define SUPERVISOR_H

#include "progress.h"
#include "worker.h"

struct run_plan {
    struct job job;
    uint64_t duration_ns; /* 0: until everything is sent and acknowledged */
    bool restart;         /* dead workers */
    struct progress *progress;
};

struct outcome {
    bool interrupted;    /* by SIGINT, SIGTERM or SIGHUP */
    bool complete;       /* everything sent was acknowledged, and no worker stayed down */
    unsigned deaths;     /* of workers */
    int exit_code;       /* a worker's, if one ended by itself */
    uint64_t elapsed_ns; /* measured interval: from start to the end of sending or the last acknowledgement */
    uint64_t drained_ns; /* from start to when nothing was under way */
    /* Sums at the end of the measured interval. */
    uint64_t bytes_delivered, packets_delivered, hops;
    uint64_t buffers_missing; /* after the end: lost by a bug */
};

/* Blocks SIGINT, SIGTERM and SIGHUP, so that they are taken only by supervisor_run(). Call before anything is created. */
void supervisor_block_signals(void);

void supervisor_run(const struct run_plan *plan, struct outcome *outcome);

#endif
