/* netns_holder.h - the process that holds the namespaces of a fabric's hosts (netns.h) while the fabric runs.
 *
 * The supervisor starts it before any worker. It makes the namespaces and passes the interfaces' descriptors over a
 * socket. Then it waits on that socket:
 *
 *     supervisor sends END     sends programs on the hosts SIGTERM, later SIGKILL, and exits
 *     supervisor is gone       kills them at once, removes the fabric's shared memory, and exits
 *
 * Namespaces and interfaces end with it. If it dies, the fabric ends. */
#ifndef NETNS_NETNS_HOLDER_H
#define NETNS_NETNS_HOLDER_H

#include "fabric.h"

#include <sys/types.h>

struct netns_holder {
    pid_t pid; /* 0: not running */
    int line;  /* socket to it */
    uint32_t hosts;
    int *tun; /* [hosts]: as in struct packets */
};

/* Makes namespaces for every host that has not failed. */
bool netns_holder_start(struct netns_holder *h, const struct fab_fabric *f, unsigned mtu, struct hx_problem *problem);

/* Ends it, if it runs, and waits for its end. */
void netns_holder_stop(struct netns_holder *h);

#endif
