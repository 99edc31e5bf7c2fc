/* control.h - supervises a running node: signals, links, the end.
 *
 *     NODE_RUNNING -- SIGINT, SIGTERM, or all done --> NODE_DRAINING -- nothing waits, or 2 s --> NODE_STOPPING
 *
 * A second signal stops at once. SIGHUP of a process reads the node file again (reload.h); that of a closed terminal
 * ends the node, as the others do. */
#ifndef DPDK_NODE_CONTROL_H
#define DPDK_NODE_CONTROL_H

#include "reload.h"

struct control {
    struct node *node;
    int signals;
    bool quiet;
    const struct reload_source *source; /* of the configuration */
    unsigned reloads;
    uint64_t carrier;  /* ports that had one at the last check */
    uint64_t moved;    /* packets moved by the switch at the last check */
    uint64_t moved_at; /* TSC of the last change of `moved`, or when the endpoint was last busy */
    /* How it ended. */
    bool interrupted; /* by a signal */
    bool aborted;     /* by a second one */
    bool timed_out;   /* drained only in part */
    uint64_t ended;   /* TSC when draining began */
};

/* Call before EAL starts threads: only control takes signals. */
void control_block_signals(void);
void control_open(struct control *c, struct node *n, const struct reload_source *source, bool quiet);

/* Starts draining: no new messages from here on. */
void control_drain(struct control *c);
/* True if all packets in flight have left: every core reported that it holds none, and a while has passed. */
bool control_is_quiet(const struct control *c);

/* Runs until the phase is NODE_STOPPING; for a separate thread. */
void *control_run(void *control);

#endif
