/* notice.h - notices of dead links: how all nodes of a plane of a HammingMesh learn which links are dead.
 *
 * A node says which of its own links are dead: a notice (node, sequence number, ports). It says so anew when that
 * changes, with the next number. Nodes keep the newest notice of each node, and pass it on once by all their links. A
 * link is dead while either end says so. The set of dead links is what around.h computes routes from.
 *
 *     own links --> hx_notices_say ----.
 *     control frame --> hx_notices_take --> newest notice of each node --> hx_notices_next --> control frames
 *                                       '-> hx_dead_links
 *
 * Any order, lost and repeated frames. A notice counts if its number is ahead of the one that is kept (modulo 2^32). A
 * peer that sends an older one is sent the newer one. Frames carry a digest of all that the sender keeps. If it differs
 * from the receiver's after a frame, both send each other all they keep, once a period at most.
 *
 * Restart. A node begins without notices. A link that opens begins with all that its ends keep. A node that receives a
 * notice of itself, from before its restart, says its present state with a number ahead of it.
 *
 * Bounds. 24 bytes a node are kept. A node says no more than one notice in `hold`, so a link that flaps costs each link
 * of the plane at most 1 / hold notices. A notice that waits for a port and is overtaken by a newer one is not sent.
 * Nodes that know no dead link, and never did, send nothing.
 *
 * Times are in any unit, by the platform. The caller owns all memory. One thread at a time. */
#ifndef HXMESH_NOTICE_H
#define HXMESH_NOTICE_H

#include "hxmesh/around.h"
#include "hxmesh/frame.h"

#include "hxmesh/begin.h"

/* What is kept of a node. */
struct hx_notice_state {
    uint64_t dead;     /* its ports with a dead link */
    uint64_t waits;    /* ports of this node by which its notice is to be sent */
    uint32_t sequence; /* 0: nothing was said */
    bool own;          /* this node says it */
};

struct hx_notices {
    const struct hx_geometry *g;
    struct hx_dead_links *dead;      /* what all notices say together */
    struct hx_notice_state *state;   /* [nodes] */
    uint64_t open;                   /* ports with a session */
    uint64_t differ;                 /* ports with a peer that keeps something else, and is to be sent the digest */
    uint64_t digest;                 /* of all that is kept; 0: nothing is */
    uint64_t hold;                   /* least time between two changes of own notices */
    uint64_t period;                 /* time between frames that nothing asks for, and between two repetitions of all */
    uint64_t said_at;                /* time of the last change of an own notice */
    bool said;                       /* there was one */
    uint32_t changes;                /* of `dead`, modulo 2^32 */
    uint32_t waiting[HX_MAX_RADIX];  /* by port: notices to be sent */
    uint32_t next[HX_MAX_RADIX];     /* by port: node to look at next */
    uint64_t sent_at[HX_MAX_RADIX];  /* by port: time of the last frame */
    uint64_t again_at[HX_MAX_RADIX]; /* by port: time when all was last sent again */
};

/* Returns the bytes of state, 8-byte aligned. */
size_t hx_notices_bytes(const struct hx_geometry *g);
/* Makes an empty state without own nodes. The caller sets .hold and .period. dead: an empty set. `memory`: all zero.
 * Both outlive *n. */
void hx_notices_init(struct hx_notices *n, const struct hx_geometry *g, struct hx_dead_links *dead, void *memory);

/* Says which ports of an own node have a dead link. Returns false: not yet, since the last change was less than `hold`
 * ago; say it again later. */
bool hx_notices_say(struct hx_notices *n, uint32_t node, uint64_t dead, uint64_t now);

/* A session began at a port: all that is kept is sent by it. Or one ended. */
void hx_notices_open(struct hx_notices *n, unsigned port, uint64_t now);
void hx_notices_close(struct hx_notices *n, unsigned port);

/* Takes a frame of the port's present session. Notices of unknown nodes or ports are ignored. */
void hx_notices_take(struct hx_notices *n, unsigned port, const struct hx_notice_frame *f, uint64_t now);

/* Whether a frame is due at a port: notices wait for it, or the peer may have lost some. */
bool hx_notices_are_due(const struct hx_notices *n, unsigned port, uint64_t now);
/* Fills the notices and the digest of the next frame for a port. It counts as sent. */
void hx_notices_next(struct hx_notices *n, unsigned port, struct hx_notice_frame *f, uint64_t now);

#include "hxmesh/end.h"

#endif
