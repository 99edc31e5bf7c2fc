/* node.h - a node of a plane as an image: an accelerator's switch with its endpoint, and what drives both.
 *
 *     virtio E --> wire --> [ switch ] <-- wire <-- [ endpoint ]     wires in memory (hal/loopback), of real frames
 *            <-- wire <--   [        ] --> wire --> [          ]
 *           W N S likewise
 *
 * The firmware is bound to hal/loopback; a device fills and empties the outer ends of a cable's two wires, on a hart of
 * its own where there are several (harts.h). A wire takes all that may be granted, so a device that is slow costs
 * nothing but time.
 *
 * A cable is up while its peer counts in our session, and was heard within SILENCE. Routes follow. */
#ifndef BARE_NODE_NODE_H
#define BARE_NODE_NODE_H

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
    uint64_t up;   /* ports that lead somewhere, bit by port */
    uint64_t hops; /* packets that the switch has sent on */
};

/* Builds all of it out of *config, which outlives *n, for so many harts (harts.h). `user`: what the endpoint asks and
 * tells. */
void node_build(struct node *n, const struct config *config, unsigned harts, struct hal_user user);

/* Frames that have come to the devices of a hart go onto the wires to the switch, and what is on the wires from it goes
 * to the devices. That hart calls them. Both return frames that moved. */
unsigned node_take_in(struct node *n, unsigned hart, uint64_t now);
unsigned node_send_out(struct node *n, unsigned hart, uint64_t now);

/* Hart 0's: frames in, if its are the devices, a step of switch and endpoint, frames out. Returns frames and packets
 * that moved. */
unsigned node_step(struct node *n, uint64_t now);

/* Hart 0 sleeps, after a step at `now` in which nothing moved: alone, until a frame comes or a credit frame is due;
 * else, for nothing wakes it when another hart has a frame, for a moment. */
void node_idle_wait(struct node *n, uint64_t now);

/* Whether all cables that are there are up. */
bool node_is_up(const struct node *n);

#endif
