/* metrics_server.h - serves the page of metrics by HTTP, in a thread of its own: a slow reader delays no link.
 *
 * One request at a time, GET or HEAD of /metrics; a client has two seconds for all of it. */
#ifndef DPDK_NODE_METRICS_SERVER_H
#define DPDK_NODE_METRICS_SERVER_H

#include "node.h"

struct metrics_server;

/* `address`: "9464" (on 127.0.0.1), "10.0.0.7:9464", "[::1]:9464". Exits with an error. The node must outlive it. */
struct metrics_server *metrics_server_open(const char *address, const struct node *n);
/* NULL: nothing. */
void metrics_server_close(struct metrics_server *s);

#endif
