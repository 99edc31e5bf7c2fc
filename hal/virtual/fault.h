/* fault.h - links that fail or do harm under the virtual clock (spec/faults/faults.h).
 *
 * What becomes of a packet on a link follows from the schedule and from dice that fall by the link and by how many
 * packets it has carried: it is settled when the packet is sent, wherever its far end is, and is the same for any
 * number of workers.
 *
 *     lost         the link is down, or goes down, before the packet is ready at its far end; or the dice say so. It goes
 *                  there as a packet without an address, which the switch drops: its credit comes back with the credit
 *                  frame after next (struct virtual_faults.period), for the receiver has to be told how much was sent
 *     corrupted    where payload is carried, a byte of it, or of the CRC, is another; else the version in its header
 *     duplicated   it is sent once more at once, if there is credit for it, from a buffer of its own
 *     reordered    it comes as much later as four full packets take, behind those that were sent meanwhile
 *     delayed      it comes later by what the schedule says; a rate takes the link longer
 *     credit lost  it comes with the next credit frame that is not lost
 *
 * Links without faults have no struct virtual_fault and know of nothing. */
#ifndef VIRTUAL_FAULT_H
#define VIRTUAL_FAULT_H

#include "base/link_fault.h"
#include "hal_port.h"

/* One direction of a link, at its sending or its receiving end. Invariant: changes before `next` have come. */
struct virtual_fault {
    const struct hx_link_change *change;
    size_t changes, next;
    uint64_t number;         /* of the link and its direction */
    uint64_t carried;        /* packets sent, or credits given, so far */
    struct virtual_tx *from; /* of a receiving end, in place of virtual_rx.from; NULL: in another worker */
};

struct virtual_faults {
    struct virtual_fault *of; /* by virtual_tx.fault and virtual_rx.fault; [0] is nobody's */
    uint64_t seed;
    uint64_t period;                                           /* ps, from credit frame to credit frame */
    struct hx_fault_cost *cost;                                /* by fault of the schedule */
    void (*hit)(void *of, const uint8_t *frame, size_t fault); /* a packet that will not arrive whole */
    void *of_hit;
};

/* The packet in the parcel that is to be posted next goes on a link that has faults at `start`. What is posted then is
 * it, or its duplicate. */
void virtual_fault_send(struct hal_switch *h, unsigned output, uint64_t start);

/* ps by which a credit that is given at `gone` is late: it was lost. */
uint64_t virtual_fault_credit_late(struct virtual_worker *w, const struct virtual_rx *rx, uint64_t gone);

/* Puts a packet that may come sooner than others that were sent before it to its place. */
void virtual_fault_deliver(struct virtual_rx *rx, const struct hx_desc *d, uint64_t ready, uint64_t birth);

/* Whether a packet that a switch drops was lost on its way there; then *gone, when its credit goes back, is later. */
bool virtual_fault_lost(const struct virtual_worker *w, const struct hx_desc *d, uint64_t *gone);

#endif
