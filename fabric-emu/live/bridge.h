/* bridge.h - the cables of an external accelerator, which a worker runs in its place.
 *
 *     neighbour --> shm_link --> transmit: credit, hop fields --> wire --> the external accelerator's port
 *     neighbour <-- shm_link <-- receive: check, credit       <-- wire <--
 *                      ^               '-> stage (no room) -.
 *                      '------------------------------------'
 *
 * To its neighbours the bridge is the external accelerator's switch: a node with the same links (hal/shm); its switch
 * never steps. To the accelerator it is a neighbour on a cable, with frames and credit frames as in
 * docs/wire-format.md. The stage holds all that is granted on a cable, so a full link blocks one VC of one cable only.
 * Captures see these ports like others.
 *
 * A cable is up while its peer is connected, counts in our session, and has been heard in it within CABLE_SILENCE_NS.
 * The state is in shared memory (struct fab_cable), and neighbours route by it. Packets for a cable that is down wait.
 *
 * Ownership: a wire's descriptor and connection are the supervisor's (external.h). Session counts, stage and a waiting
 * authenticated frame are the worker's and die with it; senders repeat lost packets. Reported counts are in shared
 * memory, and a successor continues them. Buffers and links change hands in one step (hal/shm/redo.h).
 *
 * Notices of dead links (hxmesh/notice.h) go to the accelerator. What it says of its own links is known here by its
 * cables.
 *
 * Frames from outside are copied, then checked against wire format and credits. Networks behind a cable carry all jobs
 * and do not check job tags. So the bridge drops packets of any job but the accelerator's own. */
#ifndef BRIDGE_H
#define BRIDGE_H

#include "hal/cable/notices.h"
#include "hal/wire/wire.h"
#include "node.h"
#include "stage.h"

struct bridge_port {
    struct wire *wire;        /* NULL: no cable */
    struct fab_cable *shared; /* reported state and counts */
    struct cable_end cable;
    struct stage stage[HX_VCS];
    bool connected;
    uint8_t first_vc; /* VC that sends first in the next step */
    /* With a key: a frame that has its authentication tag and counts as sent, but that the wire refused. It goes before
     * all others, and is dropped with its session. */
    uint8_t authenticated[WIRE_MAX_FRAME];
    uint32_t authenticated_bytes; /* 0: none waits */
};

struct bridge {
    struct worker *worker;
    const struct hx_external *external;
    struct node *node;
    struct bridge_port port[HX_CABLE_PORTS];
    uint64_t polled_at;
    /* It tells the accelerator which links are dead, in the place of all other nodes, as its worker knows them. */
    struct hx_notices notices;
    struct hx_dead_links dead; /* as all notices say */
    void *notices_memory, *dead_memory;
    void *memory;
    uint8_t frame[WIRE_MAX_FRAME]; /* being checked */
};

/* Binds an external accelerator to `node`, which owns its links. */
void bridge_start(struct bridge *b, struct worker *w, unsigned external, struct node *node);
void bridge_stop(struct bridge *b);

/* Returns data frames sent and received. */
unsigned bridge_step(struct bridge *b);

/* Follows the dead links of its plane that the worker knows. */
void bridge_tell(struct bridge *b, const struct hx_dead_links *dead);

/* Whether all its cables are up. */
bool bridge_is_up(const struct bridge *b);
/* Whether no data frame crossed its cables for so long that none will be repeated. Raises *since to the last one's
 * time. */
bool bridge_is_quiet(const struct bridge *b, uint64_t *since);

#endif
