/* bridge.h - what a worker runs in the place of an accelerator that is elsewhere: its cables.
 *
 *     neighbour --> shm_link --> transmit: credit, hop fields --> wire --> the external accelerator's port
 *     neighbour <-- shm_link <-- receive: judge, credit       <-- wire <--
 *                      ^               '-> stage (no room) -.
 *                      '------------------------------------'
 *
 * For its neighbours the bridge is the external accelerator's switch: it owns the same links (hal/shm), by a node whose
 * switch never makes a step. For the accelerator it is a neighbour at the end of a cable: frames and credit frames as
 * docs/wire-format.md has them. What was granted on the cable has a place in the stage, so a full link in shared memory
 * holds up one VC of one cable and nothing else. Captures see these ports as any other.
 *
 * A cable is up while somebody is connected, counts in our session, and was heard in it within SILENCE. Up or down is
 * shared memory (struct fab_cable), and neighbours route by it; a cable that is down lets packets that were meant for
 * it wait where they are.
 *
 * Who owns what. A wire's descriptor and connection are the supervisor's (external.h). The session's counts, the stage
 * and a sealed frame that waits are the worker's: they die with it, the packets in them too, and senders repeat these.
 * What is reported is in shared memory, and a successor goes on from there. Buffers are taken and given in one step
 * with the links they go to and come from (hal/shm/redo.h).
 *
 * What comes from outside is checked: frames are copied before they are judged, and nothing in them is believed but
 * what wire format and credits allow. The networks behind a cable carry every job, and look at no tag: an accelerator
 * elsewhere that writes another job's tag would get into that job's boards. So a packet of another job than the
 * accelerator's own is dropped here. */
#ifndef BRIDGE_H
#define BRIDGE_H

#include "hal/cable/cable.h"
#include "hal/wire/wire.h"
#include "node.h"
#include "stage.h"

struct bridge_port {
    struct wire *wire;        /* NULL: no cable */
    struct fab_cable *shared; /* what others may know of it */
    struct cable_end cable;
    struct stage stage[HX_VCS];
    bool connected;
    uint8_t first_vc; /* whose turn it is to be sent first */
    /* Of a cable with a key: a frame that is sealed and counts as sent, but the wire has refused it. It goes before any
     * other, or never: it is of the present session, and dropped with it. */
    uint8_t authenticated[WIRE_MAX_FRAME];
    uint32_t authenticated_bytes; /* 0: none waits */
};

struct bridge {
    struct worker *worker;
    const struct hx_external *external;
    struct node *node;
    struct bridge_port port[HX_CABLE_PORTS];
    uint64_t polled_at;
    void *memory;
    uint8_t frame[WIRE_MAX_FRAME]; /* one that is being judged */
};

/* Binds an external accelerator to `node`, which has its links. */
void bridge_start(struct bridge *b, struct worker *w, unsigned external, struct node *node);
void bridge_stop(struct bridge *b);

/* Returns data frames taken and given. */
unsigned bridge_step(struct bridge *b);

/* Every cable it has is up. */
bool bridge_is_up(const struct bridge *b);
/* No data frame has crossed its cables for long enough that none will be repeated. *since: when the last one did. */
bool bridge_is_quiet(const struct bridge *b, uint64_t *since);

#endif
