/* local.h - the built-in endpoint of a node: sends and checks the traffic of `hxmesh run`.
 *
 * Messages, destinations and payload bytes follow from (fabric, settings) alone: each node computes what it sends and
 * receives. */
#ifndef DPDK_NODE_LOCAL_H
#define DPDK_NODE_LOCAL_H

#include "node.h"
#include "workload/traffic.h"

struct local {
    struct hx_endpoint endpoint;
    struct hal_endpoint hal;
    struct dpdk_port port; /* to the switch's LOCAL */
    struct node *node;
    struct traffic traffic;
    uint32_t rank;
    uint64_t to_send, to_receive; /* messages; UINT64_MAX: limited by time */
    uint64_t begun;
    uint64_t up; /* links up at its last step */
    bool links_were_up;
    uint64_t offered; /* bytes, for the injection rate */
    uint64_t bytes_corrupted;
    uint64_t drops[HX_DROP_COUNT];
    _Atomic bool done; /* all messages are sent and received */
    void *memory;
};

/* `device`: the endpoint's end of the link to the switch. */
struct local *local_new(struct node *n, uint16_t device);
void local_free(struct local *l);

unsigned local_step(struct local *l);
/* True if nothing is in flight. */
/* Follows another configuration of the node: its job tag and credit period. Its core calls it. */
void local_take_config(struct local *l, const struct node_config *c);

bool local_is_idle(const struct local *l);
bool local_is_good(const struct local *l);

#endif
