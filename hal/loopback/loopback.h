/* loopback.h - the example platform: switches and endpoints in one process, joined by wires that carry real frames.
 *
 * How to port hxmesh to your hardware. A port is the functions that include/hxmesh/hal.h lists, `static inline` in a
 * hal_port.h, and a driver that fills and empties what they look at. Here:
 *
 *     hal_port.h     the functions: what firmware calls in its steps. No frame is read here
 *     loopback.c     the driver: frames in, credit frames out (loopback_poll)
 *     hal/cable/     what every port with wires shares: sessions, credits, windows of arrivals. You keep it as it is
 *     wire.h         the "hardware": an order-keeping wire with faults to try. You have a real one instead
 *
 * The main loop of a platform is: for each switch and endpoint, poll, then step.
 *
 *     for (;;) {
 *         loopback_poll(&platform_switch.node, now);     // frames that are due come in, credit frames go out
 *         hx_accelerator_step(&sw);                      // hal_arrived .. hal_transmit .. hal_release, hal_commit
 *     }
 *
 * What to change: replace loopback_wire_put and loopback_wire_take by your device's queues, keep buffers where its DMA
 * can reach them, take `now` from its clock and random numbers from its source of them. What to keep: a buffer of each
 * VC for the blocks that were granted, always; every drop counted by its reason.
 *
 * Buffers. An input takes `blocks` blocks of 256 B a VC (8,192 B packets need 32). Every packet lies in a buffer that
 * takes a whole frame, and there are as many as there are blocks: simple, and wasteful where packets are short.
 * Hardware would chain blocks.
 *
 * One thread for a node; the two ends of a wire may be in two. Memory is handed over by the caller, nothing is
 * allocated. Time is a count of ns that the caller moves. */
#ifndef LOOPBACK_H
#define LOOPBACK_H

#include "hal/cable/arrivals.h"
#include "hal/cable/cable.h"
#include "wire.h"

enum {
    LOOPBACK_SLOTS = 256,                             /* of a (port, VC), a power of two */
    LOOPBACK_MAX_BLOCKS = LOOPBACK_SLOTS - HX_WINDOW, /* of a (port, VC) */
    LOOPBACK_CREDIT_PERIOD = 2000,                    /* ns from credit frame to credit frame without need */
    LOOPBACK_ASK_PERIOD = 20000                       /* ns, while nobody answers */
};

/* One end of a cable. Invariant: of the positions that have arrived and are not released at most `blocks` packets have
 * not left. */
struct loopback_port {
    struct cable_end cable;
    struct arrivals arrivals;
    uint64_t gone[HX_VCS];          /* bit (position % 64): has left, though the tail is not there yet */
    struct loopback_wire *out, *in; /* NULL: no cable */
    struct hx_desc slots[HX_VCS][LOOPBACK_SLOTS];
};

/* A switch or an endpoint with its ports and buffers. */
struct loopback_node {
    struct loopback_port *port;
    unsigned ports;
    unsigned vcs;    /* of the fabric */
    unsigned blocks; /* buffer of a (port, VC) */
    uint64_t now;
    uint64_t sent; /* ports that the step has written to, bit by port */
    uint8_t (*frames)[HX_MAX_FRAME];
    uint32_t arrivals;                /* buffers below this number are for arrivals, the others for packets to send */
    uint32_t *free, *free_sends;      /* those that hold nothing */
    uint32_t free_count, sends_count; /* so many */
    uint64_t drops[HX_DROP_COUNT];
};

/* Bytes of memory for a node with so many ports of so many VCs (1 .. HX_VCS: the fabric's) and blocks a VC (32 ..
 * LOOPBACK_MAX_BLOCKS), and `sends` buffers for packets an endpoint writes (a switch: 0). 8-byte aligned. */
size_t loopback_node_bytes(unsigned ports, unsigned vcs, unsigned blocks, unsigned sends);
void loopback_node_init(struct loopback_node *n, unsigned ports, unsigned vcs, unsigned blocks, unsigned sends,
                        void *memory);

/* Plugs a cable in, or begins anew at this end of one. `random`: what nonces are made of (credit.h), another number for
 * each end and each time; yours comes from where your platform has numbers that nobody can guess. Both ends have
 * buffers of the same size. */
void loopback_plug(struct loopback_node *n, unsigned port, unsigned plane, struct loopback_wire *out,
                   struct loopback_wire *in, uint64_t random);

/* Takes in every frame that is due, then sends the credit frames that are. Call before each step. */
void loopback_poll(struct loopback_node *n, uint64_t now);

/* ---- what hal_port.h and loopback.c share ---- */

static inline void loopback_buffer_put(struct loopback_node *n, uint32_t buffer)
{
    if (buffer < n->arrivals)
        n->free[n->free_count++] = buffer;
    else
        n->free_sends[n->sends_count++] = buffer;
}

/* Puts a packet on the wire of a port, with a grant for one VC of the way back, and frees its buffer. */
static inline void loopback_transmit(struct loopback_node *n, unsigned port, const struct hx_desc *d)
{
    struct loopback_port *p = &n->port[port];
    uint8_t *frame = n->frames[d->buffer];
    cable_write_hop(&p->cable, frame, d);
    loopback_wire_put(p->out, n->now, frame, (uint32_t)HX_HEADER_BYTES + d->length);
    cable_sent(&p->cable, d);
    n->sent |= (uint64_t)1 << port;
    loopback_buffer_put(n, d->buffer);
}

/* What the step has sent is on its way. */
static inline void loopback_commit(struct loopback_node *n)
{
    for (; n->sent; n->sent &= n->sent - 1)
        loopback_wire_commit(n->port[__builtin_ctzll(n->sent)].out);
}

#endif
