/* nodes.h - builds the nodes of a worker, and routes them anew. */
#ifndef NODES_H
#define NODES_H

#include "node.h"

/* Binds worker->shm to the pools, and builds all nodes of worker->self on links whose positions are as they stand.
 * false: the run was stopped meanwhile. */
bool node_build_all(struct worker *w);
void node_free_all(struct worker *w);

/* Takes note of workers, links and cables that went down or came back: closes and opens links, bars boards, routes
 * anew. */
void node_reroute_all(struct worker *w);

#endif
