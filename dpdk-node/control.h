/* control.h - what looks after a running node: signals, links, the end.
 *
 *     NODE_RUNNING -- SIGINT, SIGTERM, or all done --> NODE_DRAINING -- nothing waits, or 2 s --> NODE_STOPPING
 *
 * A second signal stops at once. */
#ifndef DPDK_NODE_CONTROL_H
#define DPDK_NODE_CONTROL_H

#include "node.h"

struct control {
    struct node *node;
    int signals;
    bool quiet;
    uint64_t moved;    /* packets that its switch has moved, as last looked at, */
    uint64_t moved_at; /* and when that had changed, or the endpoint was not done (TSC) */
    /* How it ended. */
    bool interrupted; /* by a signal */
    bool aborted;     /* by a second one */
    bool timed_out;   /* something still waited */
    uint64_t ended;   /* TSC when draining began */
};

/* Call before EAL starts threads: signals are taken here only. */
void control_block_signals(void);
void control_open(struct control *c, struct node *n, bool quiet);

/* Nothing new is sent from here on. */
void control_drain(struct control *c);
/* Whether all that was under way has left: every core has said since that it holds nothing, and a while has gone by. */
bool control_is_quiet(const struct control *c);

/* Runs until the phase is NODE_STOPPING; for a thread of its own. */
void *control_run(void *control);

#endif
