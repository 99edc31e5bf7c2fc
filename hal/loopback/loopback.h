/* loopback.h - the example platform: switches and endpoints in one process, joined by wires that carry real frames.
 *
 * How to port hxmesh to your hardware. A port is the functions that include/hxmesh/hal.h lists, `static inline` in a
 * hal_port.h, and a driver that fills and empties their queues. Here:
 *
 *     hal_port.h     the functions: what firmware calls in its steps; reads no frames
 *     loopback.c     the driver: frames in, credit frames out (loopback_poll)
 *     hal/cable/     shared by all ports with wires: sessions, credits, windows of arrivals. Keep it as it is
 *     wire.h         the "hardware": a wire that keeps order, with fault injection. You have a real one instead
 *
 * The main loop of a platform polls, then steps, each switch and endpoint:
 *
 *     for (;;) {
 *         loopback_poll(&platform_switch.node, now);     // frames that are due come in, control frames go out
 *         hx_accelerator_step(&sw);                      // hal_arrived .. hal_transmit .. hal_release, hal_commit
 *     }
 *
 * To change: replace loopback_wire_put and loopback_wire_take by your device's queues, keep buffers where its DMA
 * reaches them, take `now` from its clock, and random numbers from its source. To keep: at all times a buffer for every
 * granted block of each VC; every drop counted by its reason.
 *
 * Buffers. An input takes `blocks` blocks of 256 B a VC (8,192 B packets need 32). Each packet has a buffer for a whole
 * frame, and there are as many buffers as blocks: simple, but wasteful for short packets. Hardware would chain blocks.
 *
 * One thread a node; the two ends of a wire may be in two. The caller owns all memory and advances the time in ns. */
#ifndef LOOPBACK_H
#define LOOPBACK_H

#include "hal/cable/arrivals.h"
#include "hal/cable/notices.h"
#include "wire.h"

enum {
    LOOPBACK_SLOTS = 256,                             /* of a (port, VC), a power of two */
    LOOPBACK_MAX_BLOCKS = LOOPBACK_SLOTS - HX_WINDOW, /* of a (port, VC) */
    LOOPBACK_CREDIT_PERIOD = 2000,                    /* ns, interval of credit frames without cause */
    LOOPBACK_ASK_PERIOD = 20000                       /* ns, interval without a session */
};

/* One end of a cable. Invariant: at most `blocks` packets of unreleased positions have not left. */
struct loopback_port {
    struct cable_end cable;
    struct arrivals arrivals;
    uint64_t gone[HX_VCS];          /* bit (position % 64): left, but the tail has not passed */
    struct loopback_wire *out, *in; /* NULL: no cable */
    bool local;                     /* leads to the node's own endpoint or switch */
    struct hx_desc slots[HX_VCS][LOOPBACK_SLOTS];
};

/* A switch or an endpoint with its ports and buffers. */
struct loopback_node {
    struct loopback_port *port;
    unsigned ports;
    unsigned vcs;    /* of the fabric */
    unsigned blocks; /* buffer of a (port, VC) */
    uint64_t now;
    uint64_t sent; /* ports that this step sent to, bit by port */
    /* Of a switch that takes part in notices of dead links; NULL: it does not. Its endpoint's port has none. */
    struct hx_notices *notices;
    uint8_t (*frames)[HX_MAX_FRAME];
    uint32_t arrivals;                /* buffers below this number are for arrivals, others for packets to send */
    uint32_t *free, *free_sends;      /* free buffers */
    uint32_t free_count, sends_count; /* their numbers */
    uint64_t drops[HX_DROP_COUNT];
    uint64_t stalls[HX_STALL_COUNT];
};

/* Returns the bytes of a node: `ports` ports of `vcs` VCs (1 .. HX_VCS: the fabric's), `blocks` a VC (32 ..
 * LOOPBACK_MAX_BLOCKS), and `sends` buffers for packets of an endpoint (a switch: 0). 8-byte aligned. */
size_t loopback_node_bytes(unsigned ports, unsigned vcs, unsigned blocks, unsigned sends);
void loopback_node_init(struct loopback_node *n, unsigned ports, unsigned vcs, unsigned blocks, unsigned sends,
                        void *memory);

/* Connects a cable, or restarts this end. `random`: source of nonces (credit.h), different for each end and each time;
 * unpredictable on a real platform. Both ends have buffers of the same size. */
void loopback_plug(struct loopback_node *n, unsigned port, unsigned plane, struct loopback_wire *out,
                   struct loopback_wire *in, uint64_t random);

/* Receives every frame that is due, then sends due credit frames and notices. Call before each step. */
void loopback_poll(struct loopback_node *n, uint64_t now);

/* ---- shared by hal_port.h and loopback.c ---- */

static inline void loopback_buffer_put(struct loopback_node *n, uint32_t buffer)
{
    if (buffer < n->arrivals)
        n->free[n->free_count++] = buffer;
    else
        n->free_sends[n->sends_count++] = buffer;
}

/* Puts a packet on the wire of a port, with a grant of one VC, and frees its buffer. */
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

/* Publishes what the step has sent. */
static inline void loopback_commit(struct loopback_node *n)
{
    for (; n->sent; n->sent &= n->sent - 1)
        loopback_wire_commit(n->port[__builtin_ctzll(n->sent)].out);
}

#endif
