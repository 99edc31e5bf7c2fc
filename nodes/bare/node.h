/* node.h - a node of a plane as an image: an accelerator's switch with its endpoint, and their devices.
 *
 *     virtio E --> wire --> [ switch ] <-- wire <-- [ endpoint ]     wires in memory (hal/loopback), of real frames
 *            <-- wire <--   [        ] --> wire --> [          ]
 *           W N S alike
 *
 * The firmware is bound to hal/loopback. Devices fill and empty the outer ends of a cable's two wires, on harts of
 * their own if there are several (harts.h). A wire takes all frames that may be granted, so a slow device only costs
 * time.
 *
 * A cable is up while its peer counts in this session and was heard within CABLE_SILENCE_NS. Routes follow, also the
 * notices of other nodes' dead links. */
#ifndef BARE_NODE_NODE_H
#define BARE_NODE_NODE_H

#include "around.h"
#include "config.h"
#include "hal/riscv-virt/virtio_net.h"
#include "hal_port.h"

enum { NODE_CABLES = HX_LOCAL };

struct node {
    const struct config *config;
    struct hx_switch sw;
    struct hx_endpoint endpoint;
    struct hal_switch switch_hal;
    struct hal_endpoint endpoint_hal;
    struct virtio_net *device[NODE_CABLES]; /* NULL: no cable */
    struct loopback_wire in[NODE_CABLES];   /* from the device to the switch */
    struct loopback_wire out[NODE_CABLES];  /* from the switch to the device */
    struct loopback_wire local[2];          /* to the switch, to the endpoint */
    unsigned harts;                         /* 1 .. 1 + NODE_CABLES */
    uint64_t random;                        /* state */
    void *tables;
    struct node_around around;
    uint64_t up;   /* ports with a link, bit by port */
    uint64_t hops; /* packets forwarded by the switch */
};

/* Builds the node from *config, which outlives *n, for `harts` harts (harts.h). `user`: callbacks of the endpoint. */
void node_build(struct node *n, const struct config *config, unsigned harts, struct hal_user user);

/* Move frames from the devices of a hart to the wires, and from the wires to the devices. That hart calls them. Both
 * return frames moved. */
unsigned node_take_in(struct node *n, unsigned hart, uint64_t now);
unsigned node_send_out(struct node *n, unsigned hart, uint64_t now);

/* Step of hart 0: frames in, if it serves the devices, switch and endpoint, frames out. Returns frames and packets
 * moved. */
unsigned node_step(struct node *n, uint64_t now);

/* Lets hart 0 sleep after a step at `now` without work. Alone, it sleeps until a frame arrives or a credit frame is
 * due. Otherwise it sleeps for HARTS_IDLE_WAIT_NS: other harts do not wake it. */
void node_idle_wait(struct node *n, uint64_t now);

/* True if all present cables are up. */
bool node_is_up(const struct node *n);

#endif
