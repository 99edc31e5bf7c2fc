/* credit.h - link-level flow control with absolute counters: one pair of objects per link and VC, one for the link.
 *
 * Modelled on InfiniBand's (IBA volume 1, 7.9): the sender counts blocks sent since the link came up; the receiver
 * grants a limit: blocks received + blocks free. A packet goes only if sent + blocks <= limit. All counters are
 * modulo 2^32 and compared serially, so the buffer must be smaller than 2^31 blocks.
 *
 *     sender  { sent, limit }  -- data -->     receiver { received, free, granted }
 *                              <- grants --
 *                              -- sent ---->   (periodic credit frame: what a wire lost is written off)
 *
 * Invariants: sent <= limit <= sent + buffer (sender); received + free = granted limit never shrinks, freed <=
 * received <= freed + buffer (receiver). A grant is idempotent: lost, repeated or reordered it does no harm. A limit
 * never shrinks, and a grant beyond sent + buffer is refused. Data and credit frames of a link share one wire that
 * keeps their order, or delays credit frames: a credit frame that overtakes data would have it written off too early.
 *
 * Sessions. Counts mean something only to two ends that began to count together. So each end of a link numbers its
 * sessions: a new one whenever its counters begin anew, later than any it had (serially compared, never 0), also
 * after a restart: the seconds of a clock will do, or a count of restarts with room between for the sessions that a link
 * begins by itself. A credit frame names its sender's session and the peer's as the sender knows it (0: not known).
 *
 *     the peer's session is later than the known one   the counters of this end begin anew too; then see below
 *     both are the present sessions                    the counts are taken in; the link is open
 *     anything else                                    an old frame, or the peer has yet to learn: ignored
 *
 * An end whose link is not open grants nothing. So data that comes nevertheless was counted by counters that are no more:
 * it is dropped as an overrun. Packets that are still in the buffer when counters begin anew stay counted as held.
 *
 * A link is suspect when its counts cannot be true: data beyond the grant, a grant or a count further ahead than the
 * buffer. A data frame that arrived twice, or whose VC was changed on the wire, does that. It begins a new session,
 * which costs the packets that are under way, and no more. That is for cables that only lose frames; doubt.h is for
 * those by which anything may come.
 *
 * Not thread safe; one owner each. */
#ifndef HXMESH_CREDIT_H
#define HXMESH_CREDIT_H

#include "hxmesh/frame.h"

#include <stdbool.h>
#include <stdint.h>

struct hx_credit_sender {
    uint32_t sent;   /* blocks sent since the link came up */
    uint32_t limit;  /* blocks that may have been sent in all */
    uint32_t buffer; /* blocks the receiver has at most: a greater grant is a lie */
};

struct hx_credit_receiver {
    uint32_t received; /* blocks received (or written off) since the link came up */
    uint32_t freed;    /* of these, blocks that have left the buffer again */
    uint32_t buffer;   /* blocks of buffer in all */
    uint32_t lost;     /* blocks written off because a wire lost them */
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
/* The sender's own count came in a credit frame, behind all data sent before it on this wire (a wire keeps order).
 * Blocks it sent that never arrived are written off: received catches up. Returns the blocks written off; a count that
 * lies behind (a frame repeated or late), or further ahead than the buffer (a lie), is ignored and returns 0. */
uint32_t hx_credit_reconcile(struct hx_credit_receiver *r, uint32_t sender_sent);
/* Counts begin anew; what is in the buffer stays there. */
void hx_credit_receiver_restart(struct hx_credit_receiver *r);

/* One end of a link: both directions, all VCs, in one session. */
struct hx_credit_link {
    struct hx_credit_sender tx[HX_VCS];
    struct hx_credit_receiver rx[HX_VCS];
    uint32_t session;
    uint32_t peer_session; /* 0: not known yet */
    uint32_t suspected;    /* sessions begun because the link was suspect */
    bool open;             /* the peer counts in these sessions */
    bool answer;           /* the peer waits for a credit frame: send one now. The caller clears it */
};

/* Counters and sessions are compared modulo 2^32. */
static inline bool hx_credit_is_ahead(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) > 0;
}

/* The session after this one: never 0. */
uint32_t hx_credit_next_session(uint32_t session);

/* The link came up, or this end begins anew. *l is all zero, or was up before: what is in its buffer stays counted.
 * tx_blocks, rx_blocks: buffer of a VC at the peer and here. session: see above, not 0. */
void hx_credit_link_up(struct hx_credit_link *l, uint32_t tx_blocks, uint32_t rx_blocks, uint32_t session);
/* The credit frame to send now. */
struct hx_credit_frame hx_credit_link_frame(const struct hx_credit_link *l, uint8_t plane);
/* A credit frame came. */
void hx_credit_link_take(struct hx_credit_link *l, const struct hx_credit_frame *f);
/* A grant came on the back of a data frame. Those bytes have no checksum: what cannot be true is ignored. */
void hx_credit_link_grant(struct hx_credit_link *l, unsigned vc, uint32_t limit);
/* A packet came. false: it must be dropped, as an overrun. */
bool hx_credit_link_arrive(struct hx_credit_link *l, unsigned vc, uint32_t blocks);

#endif
