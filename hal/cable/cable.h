/* cable.h - one end of a cable that carries frames: session, credits, and times of credit frames (hxmesh/credit.h).
 * Shared by all platforms with wires; a platform adds its device.
 *
 *     device --> frame --> cable_take --> data: a descriptor, its credit counted; it goes to the arrivals (arrivals.h)
 *                                     '-> a credit frame: taken. Anything else: drop it, by its reason
 *     device <-- frame <-- cable_write_hop, cable_authenticate, cable_sent                    data
 *     device <-- frame <-- cable_credit_is_due, cable_credit_write, cable_credit_sent   credit
 *
 * The device is called between the two halves of a pair: a frame that it refuses counts as not sent and is tried again.
 * But an authenticated frame counts as sent: the platform keeps it until the device takes it, or its session ends.
 *
 * A cable with a key, the same at both ends, authenticates what it sends and takes only frames with a valid tag
 * (hxmesh/auth_tag.h). Before a session it takes only credit frames, which carry the nonces of their tag.
 *
 * Works on bytes alone: no device, no memory but the struct, no clock. The platform chooses the unit of times.
 * Freestanding. One owner, no locks. */
#ifndef CABLE_H
#define CABLE_H

#include "hxmesh/auth_tag.h"
#include "hxmesh/credit.h"
#include "hxmesh/switch.h"

enum {
    CABLE_CREDIT_BYTES = HX_CREDIT_FRAME_BYTES + HX_AUTH_TAG_BYTES, /* at most */
    CABLE_NOTICE_BYTES = HX_NOTICE_FRAME_BYTES + HX_AUTH_TAG_BYTES, /* at most */
    /* A peer silent for longer is gone: many times any period of credit frames. */
    CABLE_SILENCE_NS = 2000000000
};

/* Zero but for the fixed fields and `random` before cable_begin(). */
struct cable_end {
    struct hx_credit_link link;
    uint32_t notified[HX_VCS];      /* limits last sent to the peer */
    uint64_t notified_at;           /* time of the last credit frame sent */
    uint32_t notified_moved;        /* sum of blocks sent, received and freed at that time, modulo 2^32 */
    uint8_t quiet;                  /* consecutive credit frames without news, at most 31 */
    uint64_t random;                /* secret key of nonces and fault injection */
    uint64_t drawn;                 /* numbers drawn */
    uint32_t sessions;              /* sessions of the link at the last cable_new_sessions() */
    uint8_t next_grant;             /* VC of the limit in the next data frame */
    uint64_t authenticated;         /* number of the last authentication tag */
    struct hx_replay_window window; /* peer's frames of this session */
    uint64_t heard_at;              /* time of the last credit frame of this session; valid if open */
    uint32_t noticed_session;       /* session to which notices were sent (notices.h) */
    /* Fixed. */
    uint8_t plane;
    uint32_t lose_credit;          /* fault injection: one credit frame in so many is lost; 0: none */
    uint64_t period;               /* interval of credit frames without cause */
    uint64_t ask_period;           /* interval without a session */
    uint64_t quiet_period;         /* bound of doubling intervals without news; 0: they do not double */
    const struct hx_auth_key *key; /* outlives the cable; NULL: no authentication */
};

/* Starts the cable, or restarts this end; the occupancy of its buffer stays. vcs: of the fabric. Blocks: buffer of a VC
 * at the peer and here. */
void cable_begin(struct cable_end *c, unsigned vcs, uint32_t peer_blocks, uint32_t blocks);

/* Returns the sessions begun since the last call, not counting cable_begin(): by a peer's restart or silence. Unsent
 * frames of the earlier session must be dropped. */
uint32_t cable_new_sessions(struct cable_end *c);

uint64_t cable_draw(struct cable_end *c);

/* ---- receive ---- */

enum cable_verdict {
    CABLE_DATA,      /* a packet with room in the buffer */
    CABLE_OVERRUN,   /* a packet beyond the grant: drop it */
    CABLE_MALFORMED, /* not a frame of this cable: drop it */
    CABLE_FORGED,    /* no valid tag of this session, or of the one that a credit frame names: drop it */
    CABLE_REPLAYED,  /* valid tag of this session, received earlier: drop it */
    CABLE_PEER,      /* a credit frame of this session */
    CABLE_STRANGER,  /* a control frame of another session */
    CABLE_OWN,       /* a control frame of this end, looped back */
    CABLE_NOTICES    /* notices of this session: read them with hx_notice_decode() */
};

/* Validates a frame and takes its contents. Fills *d of a packet, except `buffer` and `flow`. */
enum cable_verdict cable_take(struct cable_end *c, const uint8_t *frame, size_t bytes, struct hx_desc *d);

/* For platforms that close sessions with silent peers: call with the verdict of each control frame. */
static inline void cable_hear(struct cable_end *c, enum cable_verdict whose, uint64_t now)
{
    c->heard_at = whose == CABLE_PEER ? now : c->heard_at;
}

/* Returns true if the session is open and its peer was silent for longer than `silence`. */
static inline bool cable_fell_silent(const struct cable_end *c, uint64_t now, uint64_t silence)
{
    return c->link.open && now - c->heard_at > silence;
}

/* Returns the reason to drop a frame; HX_DROP_COUNT: it is a packet or control frame. */
static inline enum hx_drop cable_drop(enum cable_verdict verdict)
{
    switch (verdict) {
    case CABLE_OVERRUN:
        return HX_DROP_OVERRUN;
    case CABLE_MALFORMED:
        return HX_DROP_MALFORMED;
    case CABLE_FORGED:
        return HX_DROP_FORGED;
    case CABLE_REPLAYED:
        return HX_DROP_REPLAYED;
    default:
        return HX_DROP_COUNT;
    }
}

/* The halves of cable_take(), for platforms that act between them: cable_validate() reads the header, cable_arrive()
 * counts the packet and returns CABLE_DATA or CABLE_OVERRUN. */
enum cable_verdict cable_validate(struct cable_end *c, const uint8_t *frame, size_t bytes, struct hx_header *h);
enum cable_verdict cable_arrive(struct cable_end *c, const struct hx_header *h, struct hx_desc *d);

/* ---- send data ---- */

/* Notes that a data frame carries the limit of one VC, in turn. Returns the VC. */
static inline unsigned cable_grant(struct cable_end *c)
{
    unsigned vc = c->next_grant;
    c->next_grant = (uint8_t)(vc + 1 == c->link.vcs ? 0 : vc + 1);
    c->notified[vc] = hx_credit_limit(&c->link.rx[vc]);
    return vc;
}

/* Writes the per-hop fields of a packet's frame, with a grant. There is credit for the packet. */
static inline void cable_write_hop(const struct cable_end *c, uint8_t *frame, const struct hx_desc *d)
{
    unsigned vc = c->next_grant;
    hx_frame_set_hop(frame, d->vc, d->hops, vc, hx_credit_limit(&c->link.rx[vc]));
    hx_frame_set_via(frame, hx_desc_via(d));
}

/* Returns the bytes on the wire of a frame with this payload. */
static inline uint32_t cable_bytes(const struct cable_end *c, uint32_t length)
{
    return HX_HEADER_BYTES + length + (c->key ? HX_AUTH_TAG_BYTES : 0);
}

/* Writes the tag behind a complete data frame. Requires c->key, and room behind the payload. */
void cable_authenticate(struct cable_end *c, uint8_t *frame, uint32_t length);

/* Notes that a data frame was sent. */
static inline void cable_sent(struct cable_end *c, const struct hx_desc *d)
{
    hx_credit_spend(&c->link.tx[d->vc], hx_blocks(d->length));
    (void)cable_grant(c);
}

/* Returns the blocks sent, on all VCs, that the peer still holds, as far as its grants tell. */
static inline unsigned cable_occupancy(const struct cable_end *c)
{
    unsigned blocks_held = 0;
    for (unsigned vc = 0; vc < c->link.vcs; vc++) {
        const struct hx_credit_sender *tx = &c->link.tx[vc];
        uint32_t room = hx_credit_room(tx);
        blocks_held += room < tx->buffer ? tx->buffer - room : 0;
    }
    return blocks_held;
}

/* ---- send credit ---- */

/* Returns true if a credit frame is due: the peer waits for one, or would gain a quarter of a buffer, or a lost one
 * must be repeated. Without a session, a timer triggers it. */
bool cable_credit_is_due(const struct cable_end *c, uint64_t now);
/* Returns the time until one is due by time alone. */
uint64_t cable_credit_wait(const struct cable_end *c, uint64_t now);
/* Writes a credit frame. Returns its bytes, the tag included. */
unsigned cable_credit_write(struct cable_end *c, uint8_t frame[CABLE_CREDIT_BYTES]);
/* Notes that it was sent, or lost by fault injection. */
void cable_credit_sent(struct cable_end *c, uint64_t now);
/* Writes a frame of notices: *n without plane and nonces. Requires an open session. Returns its bytes. */
unsigned cable_notice_write(struct cable_end *c, uint8_t frame[CABLE_NOTICE_BYTES], struct hx_notice_frame *n);
/* Returns true if fault injection loses the next credit frame. */
bool cable_loses_credit(struct cable_end *c);

#endif
