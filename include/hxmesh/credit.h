/* credit.h - link-level flow control with absolute counters: one pair of objects per link and VC, one for the link.
 *
 * Modelled on InfiniBand's (IBA volume 1, 7.9): the sender counts blocks sent since the link came up; the receiver
 * grants a limit: blocks received + blocks free. A packet goes only if sent + blocks <= limit. All counters are
 * modulo 2^32 and compared serially, so the buffer must be smaller than 2^31 blocks.
 *
 *     sender  { sent, limit }  -- data -->     receiver { received, free, granted }
 *                              <- grants --
 *                              -- sent ---->   (periodic credit frame: received is set to it)
 *
 * Invariants: sent <= limit <= sent + buffer (sender); freed <= received <= freed + buffer (receiver). A grant is
 * idempotent: lost, repeated or reordered it does no harm. A sender's limit never shrinks.
 *
 * What came twice, or was never sent, is more than a credit frame's `sent`, and is taken back at once. What a wire lost
 * is less. But a switch on the way may prefer credit frames, so what is missing may be behind the frame. Each
 * HX_CREDIT_SETTLE-th credit frame therefore writes off what is missing of what had been sent that many frames before:
 * meanwhile that has come, or is lost. For credit frames come no oftener than four a buffer, or by time, and no more
 * than a buffer is on its way. A credit frame that is late or repeated takes back what did come, until the next one:
 * meanwhile the limit told is lower, which the sender ignores. It cannot overrun the buffer, for what lies in it is
 * received - freed, and both are moved together.
 *
 * Sessions. Counts mean something only to two ends that began to count together. So an end draws a nonce, a random
 * number that nobody can guess, whenever its counters begin anew, and counts are taken only from a frame that has the
 * peer's nonce and this end's. Nonces have no order. Besides, an open end has its next nonce ready. It is told to
 * nobody until a stranger asks, and is used up by the first answer: what was recorded in any earlier session
 * cannot know it. So a session ends only for somebody who is at the other end of the cable now.
 *
 *     a frame comes that                                not open                open
 *     has this end's own nonce, or next one             it came back: nothing   it came back: nothing
 *     has the peer's nonce, and names this end's        -                       its counts are taken
 *     has another one, and names this end's             opens with it           asks (it may be a replay)
 *     has another one, and names this end's next one    -                       begins anew by that nonce, opens with it
 *     has another one, and names none                   asks                    asks
 *     anything else                                     nothing                 nothing
 *
 *     who asks is told, in one frame                    (own, its nonce)        (next, its nonce)
 *     all other frames say                              (own, 0)                (own, the peer's) and counts
 *
 * Who answered by its next nonce counts in its old session, and so does the data it sends, until it is answered in
 * turn. So an end that has opened neither takes data, nor believes a grant on its back, before it has heard the peer's
 * counts in this session: as the wire keeps the order, what comes behind them is of this session too. Until then it
 * gives no limit either (HX_CREDIT_NO_LIMIT): who has room, has it from an end that takes what is sent. A limit of 0,
 * as an end has whose buffer is full of what came before it restarted, is said so too: 0 in all VCs is how an answer to
 * who asks, which has no counts, is known.
 *
 * A restarted end so opens by five frames: (a,0) - (b,a) - (a,b) - b's counts and limits - a's. Who asks an open end
 * waits for its next periodic frame; so frames that nobody sent cannot make it send more. A link on which
 * HX_CREDIT_SILENCE frames went out and none of the peer's came is closed, and asks: so two ends find each other
 * whatever they were told.
 *
 * Who can read the frames on a cable can make true ones: against that there is no help here, but a seal (auth_tag.h). Data
 * carries no nonce. A packet that was made up, or a grant on its back, can cost packets (they overrun the buffer, are
 * dropped and counted in `suspected`), but the next credit frame sets the counts right.
 *
 * Not thread safe; one owner each. */
#ifndef HXMESH_CREDIT_H
#define HXMESH_CREDIT_H

#include "hxmesh/frame.h"

#include <stdbool.h>
#include <stdint.h>

#include "hxmesh/begin.h"

struct hx_credit_sender {
    uint32_t sent;   /* blocks sent since the link came up */
    uint32_t limit;  /* blocks that may have been sent in all */
    uint32_t buffer; /* blocks the receiver has at most: a greater grant is a lie */
};

struct hx_credit_receiver {
    uint32_t received; /* blocks received (or written off) since the link came up */
    uint32_t freed;    /* of these, blocks that have left the buffer again */
    uint32_t buffer;   /* blocks of buffer in all */
    uint32_t lost;     /* blocks written off because a wire lost them, less those taken back; modulo 2^32 */
};

/* The link came up: nothing may be sent before the first grant. */
void hx_credit_sender_init(struct hx_credit_sender *s, uint32_t buffer_blocks);
/* Blocks that may be sent now. */
uint32_t hx_credit_room(const struct hx_credit_sender *s);
/* Counts a packet as sent. The caller has checked hx_credit_room. */
void hx_credit_spend(struct hx_credit_sender *s, uint32_t blocks);
/* Takes in a grant. false: out of range, sent - buffer .. sent + buffer; the limit is unchanged. An old repeat within
 * it is simply not newer: true, and the limit is unchanged too. */
bool hx_credit_grant(struct hx_credit_sender *s, uint32_t limit);

void hx_credit_receiver_init(struct hx_credit_receiver *r, uint32_t buffer_blocks);
/* A packet arrived. false: it would overrun the buffer; it must be dropped and is not counted. */
bool hx_credit_arrive(struct hx_credit_receiver *r, uint32_t blocks);
/* A packet that had arrived left the buffer. */
void hx_credit_leave(struct hx_credit_receiver *r, uint32_t blocks);
/* The limit to grant: received + free. */
uint32_t hx_credit_limit(const struct hx_credit_receiver *r);
/* So many blocks of the sender's have come, or are lost: received is that. What is in the buffer stays there. */
void hx_credit_reconcile(struct hx_credit_receiver *r, uint32_t sender_sent);
/* Counts begin anew; what is in the buffer stays there. */
void hx_credit_receiver_restart(struct hx_credit_receiver *r);

enum {
    HX_CREDIT_SILENCE = 16384, /* credit frames told and none heard, until a link is closed */
    HX_CREDIT_SETTLE = 8       /* credit frames, from settling what is lost to settling it again */
};

/* A limit that lies behind any count of a session that begins: it grants nothing, and is not 0. */
#define HX_CREDIT_NO_LIMIT UINT32_MAX

/* One end of a link: both directions, all VCs, in one session. */
struct hx_credit_link {
    struct hx_credit_sender tx[HX_VCS];
    struct hx_credit_receiver rx[HX_VCS];
    uint64_t nonce;
    uint64_t next_nonce; /* 0: none yet. Not 0 while open */
    uint64_t peer_nonce; /* 0: not open */
    uint64_t asks;       /* nonce of a stranger that is to be told; 0: there is none */
    uint8_t vcs;         /* of the fabric: the others have no buffer */
    uint32_t sessions;   /* that began here */
    uint32_t
        suspected;    /* times that something came which the rules do not allow: data beyond the grant, such a limit */
    uint32_t unheard; /* frames told since the peer was heard */
    uint32_t settled[HX_VCS]; /* blocks that the peer had sent when it was last settled what is lost, or 0 */
    uint32_t back[HX_VCS];    /* blocks taken back since then */
    uint8_t unsettled;        /* credit frames of the peer since then */
    bool open;                /* there is a peer in this session, */
    bool heard;               /* and its counts have come: what comes now is of this session. Never without `open` */
    bool answer;              /* the peer waits for a credit frame: send one now */
};

/* Whose a credit frame was. */
enum hx_credit_origin {
    HX_CREDIT_PEER,     /* of this session: it was taken */
    HX_CREDIT_STRANGER, /* of another one */
    HX_CREDIT_OWN       /* this end's own: it came back */
};

/* Counters are compared modulo 2^32. */
static inline bool hx_credit_is_ahead(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) > 0;
}

/* The link came up, or this end begins anew. *l is all zero, or was up before: what is in its buffer stays counted.
 * tx_blocks, rx_blocks: buffer of a VC at the peer and here. random: a number that nobody can guess and no end of the
 * cable ever had. vcs: of the fabric, 1 .. HX_VCS; both ends have as many. */
void hx_credit_link_up(struct hx_credit_link *l, unsigned vcs, uint32_t tx_blocks, uint32_t rx_blocks, uint64_t random);
/* The credit frame to send now. */
struct hx_credit_frame hx_credit_link_frame(const struct hx_credit_link *l, uint8_t plane);
/* It was sent. Clears `answer`, or sets it: then another one is to follow at once. A session begins if the peer has not
 * been heard for too long. */
void hx_credit_link_notified(struct hx_credit_link *l);
/* A credit frame came. random: as above; it may be used. */
enum hx_credit_origin hx_credit_link_take(struct hx_credit_link *l, const struct hx_credit_frame *f, uint64_t random);
/* A grant came on the back of a data frame. Those bytes have no checksum: what cannot be true is ignored. */
void hx_credit_link_grant(struct hx_credit_link *l, unsigned vc, uint32_t limit);
/* A packet came. false: it must be dropped, as an overrun. */
bool hx_credit_link_arrive(struct hx_credit_link *l, unsigned vc, uint32_t blocks);

#include "hxmesh/end.h"

#endif
