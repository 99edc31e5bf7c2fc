/* reload.h - SIGHUP: a running node follows its node file as it is now. Sessions and credit stay; no packet is lost.
 *
 *     the file --> a child process reads and checks it --> this process reads it --> struct node_config --> the cores
 *
 * The child may end with an error, which it says; then nothing changes. What may change: times (credit_period,
 * idle_wait, linger, statistics), lose_credits, job, and the fabric's jobs and failed boards. The traffic of the
 * built-in endpoint is not read again. All else needs a restart, and refuses the reload. */
#ifndef DPDK_NODE_RELOAD_H
#define DPDK_NODE_RELOAD_H

#include "node.h"

struct reload_source {
    const char *file;          /* NULL: the node has none, and follows none */
    struct node_values values; /* of the options */
};

/* Called by control, of a node with a file. Returns false, after a line, if the node stays as it is. No configuration
 * is freed: other threads may read it. */
bool reload(struct node *n, const struct reload_source *from);

#endif
