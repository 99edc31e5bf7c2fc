/* outbox.h - packets and credits on their way: from the entity that is being visited, to others of its worker and to
 * other workers, and from other workers.
 *
 * What they touch there is seldom in the cache. So they are handed over some parcels late, and asked for in between;
 * between entities of one worker at once where they are so near that to wait for them costs less. They are for later
 * windows, and all are handed over before the window ends: nobody can tell the difference. Packets and credits do not
 * wait for each other. */
#ifndef VIRTUAL_OUTBOX_H
#define VIRTUAL_OUTBOX_H

#include "queue.h"

struct virtual_rx;
struct virtual_tx;
struct virtual_worker;

enum {
    VIRTUAL_EVENTS = 8, /* of each: more than are on their way */
    VIRTUAL_LATE = 6    /* so many more are posted before one is handed over */
};
_Static_assert((int)VIRTUAL_LATE < (int)VIRTUAL_EVENTS, "one more is being filled");

/* A packet, and where it goes. */
struct virtual_packet_event {
    struct virtual_slot slot;    /* as it will stand in its queue there */
    struct virtual_rx *rx;       /* NULL: in another worker, with its frame */
    const struct virtual_tx *tx; /* where rx is NULL: who sends it */
};

/* Credit, and whose it is. */
struct virtual_credit_event {
    struct virtual_tx *tx;
    uint64_t credit; /* virtual_credit_of() */
};

/* Of each kind those handed .. posted-1 are on their way, at n % VIRTUAL_EVENTS. */
struct virtual_outbox {
    uint32_t posted, handed;
    uint32_t paid, credited; /* likewise of payments: posted, handed over */
    bool for_own; /* takes what entities of this worker send each other, too; otherwise that is handed over at once */
    struct virtual_packet_event packet_event[VIRTUAL_EVENTS];
    struct virtual_credit_event credit_event[VIRTUAL_EVENTS];
};

/* The place of the next packet: whoever has filled it posts it. */
static inline struct virtual_packet_event *virtual_outbox_next(struct virtual_outbox *box)
{
    return &box->packet_event[box->posted % VIRTUAL_EVENTS];
}

void virtual_post(struct virtual_worker *w);
void virtual_pay_late(struct virtual_worker *w, struct virtual_tx *tx, uint64_t credit);
/* Hands over all that is on its way. */
void virtual_post_end(struct virtual_worker *w);

#endif
