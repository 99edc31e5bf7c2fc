/* outbox.h - packets and credits in flight from the node being visited to others, and from other workers.
 *
 * Their destinations are rarely in the cache. So the outbox hands them over some events late, and prefetches in
 * between. Between nodes of one worker it hands over at once if cache misses are cheaper than that (`for_own`). All
 * events are for later windows and are handed over before this window ends, so the delay has no effect. Packets and
 * credits do not wait for each other. */
#ifndef VIRTUAL_OUTBOX_H
#define VIRTUAL_OUTBOX_H

#include "queue.h"

struct virtual_rx;
struct virtual_tx;
struct virtual_worker;

enum {
    VIRTUAL_EVENTS = 8, /* of each kind: more than are in flight */
    VIRTUAL_LATE = 6    /* later events posted before one is handed over */
};
_Static_assert((int)VIRTUAL_LATE < (int)VIRTUAL_EVENTS, "one more is being filled");

/* A packet and its destination. */
struct virtual_packet_event {
    struct virtual_slot slot;    /* as it enters the queue there */
    struct virtual_rx *rx;       /* NULL: in another worker; the frame goes along */
    const struct virtual_tx *tx; /* sender, if rx is NULL */
};

/* Credit and the output that gets it. */
struct virtual_credit_event {
    struct virtual_tx *tx;
    uint64_t credit; /* virtual_credit_of() */
};

/* Of each kind, event n is at n % VIRTUAL_EVENTS, and handed .. posted-1 are in flight. */
struct virtual_outbox {
    uint32_t packets_posted, packets_handed;
    uint32_t credits_posted, credits_handed;
    bool for_own; /* also takes events between nodes of this worker; else those are handed over at once */
    struct virtual_packet_event packet_event[VIRTUAL_EVENTS];
    struct virtual_credit_event credit_event[VIRTUAL_EVENTS];
};

/* The next packet event: fill it, then post it. */
static inline struct virtual_packet_event *virtual_outbox_next(struct virtual_outbox *box)
{
    return &box->packet_event[box->packets_posted % VIRTUAL_EVENTS];
}

void virtual_post_packet(struct virtual_worker *w);
void virtual_post_credit(struct virtual_worker *w, struct virtual_tx *tx, uint64_t credit);
/* Hands over all that is in flight. */
void virtual_post_end(struct virtual_worker *w);

#endif
