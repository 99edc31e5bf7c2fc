/* fault.h - faulty links under the virtual clock (spec/faults/faults.h).
 *
 * The fate of a packet on a link follows from the schedule and from random numbers by link and packet count. It is
 * decided when the packet is sent, and does not depend on the number of workers.
 *
 *     lost         the link is down, or goes down, before the packet is ready at its far end; or at random. It arrives as
 *                  a packet without an address, which the switch drops. Its credit returns with the credit frame after
 *                  next (struct virtual_faults.period): that frame carries the sender's count
 *     corrupted    one byte of the payload or the CRC changes; without payload, the version in the header
 *     duplicated   it is sent again at once, from a buffer of its own, if there is credit
 *     reordered    it arrives later by four full packets, behind packets sent after it
 *     delayed      it arrives later by the scheduled delay; a lower rate occupies the link longer, and the packet arrives
 *                  so much later
 *     credit lost  the credit comes with the next credit frame that is not lost
 *
 * A link that closes as planned loses none: an output takes a packet only if its first bit is on the link before it
 * closes.
 *
 * Links without faults have no struct virtual_fault and no cost. */
#ifndef VIRTUAL_FAULT_H
#define VIRTUAL_FAULT_H

#include "base/link_fault.h"
#include "hal_port.h"

enum {
    VIRTUAL_FAULT_LATE_PACKETS = 4, /* delay of a reordered packet, in full packets */
    VIRTUAL_FAULT_CREDITS_LOST = 64 /* in a row: a bound, should all be lost */
};

/* One direction of a link, at its sending or receiving end. Invariant: changes before `next` are in effect. */
struct virtual_fault {
    const struct hx_link_change *change;
    size_t changes, next;
    size_t closing;          /* next change that closes the link; changes: none */
    uint64_t number;         /* of the link and direction */
    uint64_t carried;        /* packets sent, or credits returned */
    struct virtual_tx *from; /* of a receiving end, replaces virtual_rx.from; NULL: in another worker */
};

struct virtual_faults {
    struct virtual_fault *of; /* by virtual_tx.fault and virtual_rx.fault; [0] is unused */
    uint64_t seed;
    uint64_t period;                                           /* ps between two credit frames */
    struct hx_fault_cost *cost;                                /* by fault of the schedule */
    void (*hit)(void *of, const uint8_t *frame, size_t fault); /* called for a packet that is lost or corrupted */
    void *of_hit;
};

/* Applies the faults of the output's link to the next packet event, sent at `start`. Then the next packet event is that
 * packet, or its duplicate. */
void virtual_fault_send(struct hal_switch *h, unsigned output, uint64_t start);

/* Returns the time from which an output takes the next packet, if it would be `opens`: not before the link's planned
 * closing, if the packet would begin behind that. */
uint64_t virtual_fault_takes(const struct virtual_worker *w, const struct virtual_tx *tx, uint64_t opens);
/* Returns when a packet begins on the link, if it would be at `start`: before the link's planned closing, though the
 * crossbar is late. */
uint64_t virtual_fault_start(const struct virtual_worker *w, const struct virtual_tx *tx, uint64_t start);

/* Delay of a credit returned at `gone` by lost credit frames, ps. */
uint64_t virtual_fault_credit_late(struct virtual_worker *w, const struct virtual_rx *rx, uint64_t gone);

/* Delivers a packet in order of time: it may arrive before packets sent earlier. */
void virtual_fault_deliver(struct virtual_rx *rx, const struct hx_desc *d, uint64_t ready, uint64_t birth);

/* Returns whether a dropped packet was lost on its link; then moves *gone, the return time of its credit, to a later
 * time. */
bool virtual_fault_lost(const struct virtual_worker *w, const struct hx_desc *d, uint64_t *gone);

#endif
