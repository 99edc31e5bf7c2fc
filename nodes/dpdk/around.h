/* around.h - routes of a core's switch around dead links, which the node learns from notices (hxmesh/notice.h).
 *
 *     cores' ports --> struct dpdk_notices, one of the node, with a lock --> copy of the dead links of each core */
#ifndef DPDK_NODE_AROUND_H
#define DPDK_NODE_AROUND_H

#include "config.h"
#include "port.h"
#include "spec/around_links.h"

struct core_around {
    struct dpdk_notices *notices;
    const struct node_config *config;
    struct job_boards boards;
    struct around_shared shared;
    struct around_node node;
    struct hx_dead_links dead; /* as the core's routes know them */
    void *dead_memory;
    uint32_t changes; /* of the node's dead links that `dead` has */
};

/* Notices of a node: its own, and those it receives. The caller sets .of.hold and .of.period; times are TSC. */
void around_open_notices(struct dpdk_notices *n, const struct node_config *c);
void around_close_notices(struct dpdk_notices *n);

/* Zero *a before. */
void core_around_open(struct core_around *a, struct dpdk_notices *n, const struct node_config *c);
void core_around_close(struct core_around *a);

/* Whether the node's dead links changed since the last core_around_build(). */
bool core_around_changed(const struct core_around *a);

/* Builds routes for the ports `up` around dead links, into `tables` (hx_route_bytes()). `blocked`: of its own job. */
void core_around_build(struct core_around *a, uint64_t up, struct hx_blocked_boards blocked, struct hx_route *r,
                       void *tables);

#endif
