/* credit.h - link-level flow control with absolute counters: a sender and a receiver for each VC, one session a link.
 *
 * As in InfiniBand (IBA volume 1, 7.9), the sender counts blocks sent since the link came up. The receiver grants a
 * limit: blocks received + blocks free. A packet may go if sent + blocks <= limit. Counters are modulo 2^32 and
 * compared serially, so a buffer is smaller than 2^31 blocks.
 *
 *     sender  { sent, limit }  -- data -->     receiver { received, free, granted }
 *                              <- grants --
 *                              -- sent ---->   (periodic credit frame: received is set to it)
 *
 * Invariants: sent <= limit <= sent + buffer (sender); freed <= received <= freed + buffer (receiver). Grants are
 * idempotent: a lost, repeated or reordered grant does no harm. A sender's limit never shrinks.
 *
 * Reconciliation. Duplicated or forged blocks make `received` greater than the `sent` of a credit frame; the excess is
 * subtracted at once. Lost blocks make it less. But a switch between the ends may prefer credit frames, so missing
 * blocks may still arrive. Every HX_CREDIT_SETTLE-th credit frame therefore writes off blocks that were sent that many
 * frames earlier and have not arrived. That suffices: at most four credit frames a buffer are sent, and at most one
 * buffer is in flight. A late or repeated credit frame subtracts blocks that did arrive, until the next one; the sender
 * ignores the lower limit. The buffer cannot overrun, because its occupancy is received - freed, and both move
 * together.
 *
 * Sessions. Counts are valid only between two ends that began to count together. An end draws a nonce, an unpredictable
 * random number, whenever its counters restart. It accepts counts only from a frame that carries the peer's nonce and
 * its own. An open end also holds its next nonce. It sends that only in answer to a stranger, and the first reply uses
 * it up. Frames recorded in earlier sessions cannot contain it, so only the present end of the cable can end a session.
 *
 *     a received frame                                  not open                open
 *     carries this end's own nonce or next one          looped back: ignored    looped back: ignored
 *     has the peer's nonce, names this end's            -                       counts are taken
 *     has another nonce, names this end's               opens with it           asks (may be a replay)
 *     has another nonce, names this end's next one      -                       restarts with next nonce, opens
 *     has another nonce, names none                     asks                    asks
 *     anything else                                     ignored                 ignored
 *
 *     the answer to an asking peer carries              (own, its nonce)        (next, its nonce)
 *     all other frames carry                            (own, 0)                (own, the peer's) and counts
 *
 * A peer that replied with its next nonce stays in its old session, and its data too, until it gets a reply. So an open
 * end accepts neither data nor grants before it has the peer's counts of this session; wires keep order, so whatever
 * follows them is of this session too. Until then it grants no limit (HX_CREDIT_NO_LIMIT). A limit of 0 is valid: a
 * restarted end with a full buffer sends it. Limits of 0 in all VCs mark an answer, which carries no counts.
 *
 * A restarted end opens by five frames: (a,0) - (b,a) - (a,b) - b's counts and limits - a's. An open end answers with
 * its next periodic frame, so forged frames cannot make it send more. A link that sends HX_CREDIT_SILENCE credit frames
 * and receives none closes and asks, so two ends always find each other.
 *
 * Only an authentication tag (auth_tag.h) protects against a forger that can read the cable. Data frames carry no
 * nonce. Forged data or grants can cost packets (overruns, which are dropped and counted in `suspected`), until the
 * next credit frame corrects the counts.
 *
 * Not thread-safe; one owner. */
#ifndef HXMESH_CREDIT_H
#define HXMESH_CREDIT_H

#include "hxmesh/frame.h"

#include <stdbool.h>
#include <stdint.h>

#include "hxmesh/begin.h"

struct hx_credit_sender {
    uint32_t sent;   /* blocks sent since the link came up */
    uint32_t limit;  /* blocks that may have been sent in all */
    uint32_t buffer; /* blocks of the receiver's buffer: bound of a valid grant */
};

struct hx_credit_receiver {
    uint32_t received; /* blocks received or written off since the link came up */
    uint32_t freed;    /* blocks of these that left the buffer */
    uint32_t buffer;   /* blocks of buffer */
    uint32_t lost;     /* blocks written off as lost, less those that arrived later; modulo 2^32 */
};

/* Initialises a sender, which may send nothing until the first grant. */
void hx_credit_sender_init(struct hx_credit_sender *s, uint32_t buffer_blocks);
/* Returns the blocks that may be sent. */
uint32_t hx_credit_room(const struct hx_credit_sender *s);
/* Counts a packet as sent. The caller has checked hx_credit_room. */
void hx_credit_spend(struct hx_credit_sender *s, uint32_t blocks);
/* Applies a grant; an older one than the last has no effect. Returns false, without effect, if it is outside sent -
 * buffer .. sent + buffer. */
bool hx_credit_grant(struct hx_credit_sender *s, uint32_t limit);

void hx_credit_receiver_init(struct hx_credit_receiver *r, uint32_t buffer_blocks);
/* Counts an arrived packet. Returns false, uncounted, if it would overrun the buffer and must be dropped. */
bool hx_credit_arrive(struct hx_credit_receiver *r, uint32_t blocks);
/* Counts an arrived packet as gone from the buffer. */
void hx_credit_leave(struct hx_credit_receiver *r, uint32_t blocks);
/* Returns the limit to grant: received + free. */
uint32_t hx_credit_limit(const struct hx_credit_receiver *r);
/* Sets received to the blocks that arrived or are lost, as the sender counts them. The buffer's occupancy stays. */
void hx_credit_reconcile(struct hx_credit_receiver *r, uint32_t sender_sent);
/* Restarts the counts. The buffer's occupancy stays. */
void hx_credit_receiver_restart(struct hx_credit_receiver *r);

enum {
    HX_CREDIT_SILENCE = 16384, /* credit frames sent without one received, until the link closes */
    HX_CREDIT_SETTLE = 8       /* credit frames between two settlements of loss */
};

/* Grants nothing: behind any count of a new session, and not 0. */
#define HX_CREDIT_NO_LIMIT UINT32_MAX

/* One end of a link: both directions, all VCs, one session. */
struct hx_credit_link {
    struct hx_credit_sender tx[HX_VCS];
    struct hx_credit_receiver rx[HX_VCS];
    uint64_t nonce;
    uint64_t next_nonce;      /* 0: none; not 0 while open */
    uint64_t peer_nonce;      /* 0: not open */
    uint64_t asks;            /* nonce of a stranger to answer; 0: none */
    uint8_t vcs;              /* of the fabric; other VCs have no buffer */
    uint32_t sessions;        /* sessions begun */
    uint32_t suspected;       /* breaches by the peer: data beyond the grant, invalid limits */
    uint32_t unheard;         /* credit frames sent since one was received */
    uint32_t settled[HX_VCS]; /* peer's `sent` at the last settlement, blocks; or 0 */
    uint32_t back[HX_VCS];    /* blocks subtracted since the last settlement */
    uint8_t unsettled;        /* credit frames received since the last settlement */
    bool open;                /* a peer is in this session */
    bool heard;               /* its counts arrived, so what follows is of this session; implies `open` */
    bool answer;              /* send a credit frame now: the peer waits for it */
};

/* Origin of a credit frame. */
enum hx_credit_origin {
    HX_CREDIT_PEER,     /* this session: taken */
    HX_CREDIT_STRANGER, /* another session */
    HX_CREDIT_OWN       /* this end: looped back */
};

/* Compares modulo 2^32. */
static inline bool hx_credit_is_ahead(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) > 0;
}

/* Starts a link, or restarts this end. *l is all zero, or was up: then the occupancy of its buffer stays. tx_blocks,
 * rx_blocks: buffer of a VC at the peer and here. random: unpredictable, and never used by an end of this cable. vcs:
 * of the fabric, 1 .. HX_VCS, equal at both ends. */
void hx_credit_link_up(struct hx_credit_link *l, unsigned vcs, uint32_t tx_blocks, uint32_t rx_blocks, uint64_t random);
/* Returns the credit frame to send. */
struct hx_credit_frame hx_credit_link_frame(const struct hx_credit_link *l, uint8_t plane);
/* Notes that it was sent. Clears `answer`, or sets it if another one must follow at once. Begins a session if the peer
 * was silent for too long. */
void hx_credit_link_notified(struct hx_credit_link *l);
/* Takes a received credit frame. random: as above; may be used up. */
enum hx_credit_origin hx_credit_link_take(struct hx_credit_link *l, const struct hx_credit_frame *f, uint64_t random);
/* Takes a grant of a data frame. No checksum covers it: impossible values are ignored. */
void hx_credit_link_grant(struct hx_credit_link *l, unsigned vc, uint32_t limit);
/* Takes a packet. Returns false if it must be dropped as an overrun. */
bool hx_credit_link_arrive(struct hx_credit_link *l, unsigned vc, uint32_t blocks);

#include "hxmesh/end.h"

#endif
