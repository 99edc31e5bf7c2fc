/* cable.h - one end of a cable that carries frames: its session, its credits, and when they are told (hxmesh/credit.h).
 * What every platform with wires shares; a platform adds its device.
 *
 *     device --> frame --> cable_take --> data: a descriptor, its credit counted; it goes to the arrivals (arrivals.h)
 *                                     '-> a credit frame: taken. Anything else: to be dropped, by its reason
 *     device <-- frame <-- cable_write_hop, cable_authenticate, cable_sent                    data
 *     device <-- frame <-- cable_credit_is_due, cable_credit_write, cable_credit_sent   credit
 *
 * The device is asked between the two halves of a pair: what it refuses was not sent, and is tried again. But a sealed
 * frame counts as sent when it is sealed: the platform keeps it until the device takes it, or its session ends.
 *
 * A cable with a key seals what it sends and takes only what bears a seal (hxmesh/auth_tag.h); before there is a session it
 * takes credit frames alone, which say what they are sealed for. Of a sealed cable both ends have the key.
 *
 * Logic on bytes alone: no device, no memory but the struct, no clock. Times are in any unit of the platform's.
 * Freestanding. One owner, no locks. */
#ifndef CABLE_H
#define CABLE_H

#include "hxmesh/auth_tag.h"
#include "hxmesh/credit.h"
#include "hxmesh/switch.h"

enum {
    CABLE_CREDIT_BYTES = HX_CREDIT_FRAME_BYTES + HX_AUTH_TAG_BYTES, /* at most */
    /* A peer that says nothing for longer is away: many times any period of credit frames. */
    CABLE_SILENCE_NS = 2000000000
};

/* Zero but for what is fixed and `random`: then cable_begin() makes it count. */
struct cable_end {
    struct hx_credit_link link;
    uint32_t notified[HX_VCS];      /* limits as last told to the peer */
    uint64_t notified_at;           /* when the last credit frame was sent */
    uint32_t notified_moved;        /* sum of what had been sent, received and freed by then, modulo 2^32 */
    uint8_t quiet;                  /* credit frames in a row that had nothing new to tell, 31 at most */
    uint64_t random;                /* key of the nonces and faults that are drawn: a number that nobody can guess */
    uint64_t drawn;                 /* how many were */
    uint32_t sessions;              /* of the link, when cable_new_sessions() last looked */
    uint8_t next_grant;             /* VC whose limit the next data frame carries */
    uint64_t authenticated;         /* frames: the number of the last */
    struct hx_replay_window window; /* of the peer's frames in this session */
    uint64_t heard_at;              /* when the last credit frame of this session came; of an open one there is one */
    /* Fixed. */
    uint8_t plane;
    uint32_t lose_credit;          /* a fault to try: one credit frame in so many is lost; 0: none */
    uint64_t period;               /* from credit frame to credit frame without need */
    uint64_t ask_period;           /* the same while nobody answers */
    uint64_t quiet_period;         /* while nothing moves `period` doubles with each, up to this; 0: it does not */
    const struct hx_auth_key *key; /* lives as long; NULL: nothing is sealed */
};

/* The cable came up, or this end begins anew: what lies in the buffer stays counted. vcs: of the fabric. Blocks: of a
 * VC, there and here. */
void cable_begin(struct cable_end *c, unsigned vcs, uint32_t peer_blocks, uint32_t blocks);

/* Sessions that began since the last call, without those of cable_begin(): by the peer's word, or because it fell
 * silent. What was to be sent in the one before, and was not, is to be dropped. */
uint32_t cable_new_sessions(struct cable_end *c);

uint64_t cable_draw(struct cable_end *c);

/* ---- in ---- */

enum cable_verdict {
    CABLE_DATA,      /* a packet: it has room */
    CABLE_OVERRUN,   /* a packet beyond what was granted: to be dropped */
    CABLE_MALFORMED, /* not a frame of this cable: to be dropped */
    CABLE_FORGED,    /* without the seal of this session, or of the one that a credit frame says: to be dropped */
    CABLE_REPLAYED,  /* sealed for this session, but it came before: to be dropped */
    CABLE_PEER,      /* a credit frame: of this session, */
    CABLE_STRANGER,  /* of another one, */
    CABLE_OWN        /* this end's own, which came back */
};

/* Judges a frame and takes in what it says. Of a packet *d is filled, but for `buffer` and `flow`. */
enum cable_verdict cable_take(struct cable_end *c, const uint8_t *frame, size_t bytes, struct hx_desc *d);

/* For platforms that end a session whose peer is silent: tell the verdict of each credit frame. */
static inline void cable_hear(struct cable_end *c, enum cable_verdict whose, uint64_t now)
{
    c->heard_at = whose == CABLE_PEER ? now : c->heard_at;
}

/* Whether the session is open, and its peer has said nothing for longer than `silence`. */
static inline bool cable_fell_silent(const struct cable_end *c, uint64_t now, uint64_t silence)
{
    return c->link.open && now - c->heard_at > silence;
}

/* Why a frame is to be dropped; HX_DROP_COUNT: it is not. It is a packet, or a credit frame. */
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

/* Its two halves, for a platform that must do something between them. A packet counts only when it has arrived:
 * cable_validate() reads its header, cable_arrive() answers CABLE_DATA or CABLE_OVERRUN. */
enum cable_verdict cable_validate(struct cable_end *c, const uint8_t *frame, size_t bytes, struct hx_header *h);
enum cable_verdict cable_arrive(struct cable_end *c, const struct hx_header *h, struct hx_desc *d);

/* ---- data out ---- */

/* The limit of one VC, each in turn, goes on the back of a frame: which; the limit is told[] then. */
static inline unsigned cable_grant(struct cable_end *c)
{
    unsigned vc = c->next_grant;
    c->next_grant = (uint8_t)(vc + 1 == c->link.vcs ? 0 : vc + 1);
    c->notified[vc] = hx_credit_limit(&c->link.rx[vc]);
    return vc;
}

/* Writes what a packet's frame says on this cable, a grant on its back included. It has room. */
static inline void cable_write_hop(const struct cable_end *c, uint8_t *frame, const struct hx_desc *d)
{
    unsigned vc = c->next_grant;
    hx_frame_set_hop(frame, d->vc, d->hops, vc, hx_credit_limit(&c->link.rx[vc]));
    hx_frame_set_via(frame, hx_desc_via(d));
}

/* Of a frame with so much payload as it goes out. */
static inline uint32_t cable_bytes(const struct cable_end *c, uint32_t length)
{
    return HX_HEADER_BYTES + length + (c->key ? HX_AUTH_TAG_BYTES : 0);
}

/* Seals a data frame in which all is written, hop and grant too; c->key is there, and room behind the payload. */
void cable_authenticate(struct cable_end *c, uint8_t *frame, uint32_t length);

/* It was sent. */
static inline void cable_sent(struct cable_end *c, const struct hx_desc *d)
{
    hx_credit_spend(&c->link.tx[d->vc], hx_blocks(d->length));
    (void)cable_grant(c);
}

/* ---- credit out ---- */

/* The peer waits for an answer; or it has a quarter of a buffer to gain; or a frame may have been lost meanwhile. Where
 * there is no peer yet, a timer of its own asks for one. */
bool cable_credit_is_due(const struct cable_end *c, uint64_t now);
/* How long it is until one is due for no other reason than time. */
uint64_t cable_credit_wait(const struct cable_end *c, uint64_t now);
/* Returns its bytes, the seal included. */
unsigned cable_credit_write(struct cable_end *c, uint8_t frame[CABLE_CREDIT_BYTES]);
/* It was sent, or lost on purpose. */
void cable_credit_sent(struct cable_end *c, uint64_t now);
/* Whether the fault strikes the credit frame that is to go. */
bool cable_loses_credit(struct cable_end *c);

#endif
