/* nodes.h - builds the nodes of a worker, and reroutes them. */
#ifndef NODES_H
#define NODES_H

#include "node.h"

/* Binds worker->shm to the pools, and builds all nodes of the worker on their links at the present positions. Returns
 * false: the run was stopped. */
bool node_build_all(struct worker *w);
void node_free_all(struct worker *w);

/* Follows changes of workers, links and cables: opens and closes ports, blocks boards, rebuilds routes. */
void node_reroute_all(struct worker *w);

#endif
