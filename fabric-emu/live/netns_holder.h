/* netns_holder.h - the process that holds the namespaces of a fabric's hosts (netns.h), as long as the fabric runs.
 *
 * The supervisor starts it before any worker; it makes the namespaces and hands the descriptors of the hosts'
 * interfaces over a socket. Then it waits for that socket:
 *
 *     supervisor says END      programs on the hosts are asked to end (SIGTERM), and ended after a while; it ends
 *     supervisor is gone       they are ended at once; the fabric's shared memory is removed, which nobody else would; it ends
 *
 * With it go the namespaces and their interfaces. If it dies the fabric ends. */
#ifndef NETNS_NETNS_HOLDER_H
#define NETNS_NETNS_HOLDER_H

#include "fabric.h"

#include <sys/types.h>

struct netns_holder {
    pid_t pid; /* 0: none runs */
    int line;  /* to it */
    uint32_t hosts;
    int *tun; /* [hosts]: as struct packets has it */
};

/* For every host of the fabric that has not failed. */
bool netns_holder_start(struct netns_holder *h, const struct fab_fabric *f, unsigned mtu, struct hx_problem *problem);

/* Ends it, if it runs, and waits until it has ended. */
void netns_holder_stop(struct netns_holder *h);

#endif
