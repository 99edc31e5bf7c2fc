/* forwarding.h - a host that forwards in software: each packet takes time, and the total rate is limited.
 *
 *     a packet for another host; its first block may be routed at r:
 *         taken up  = max(r, forwarding free)
 *         forwarding free = taken up + n * block of forwarding
 *         ready     = taken up + delay                               then as in any switch (timing.h)
 *
 * Packets from and for the host itself are not forwarded and pass the others. Forwarded packets stay in the input's
 * buffer, so credit holds back the senders.
 *
 * Invariant of each VC of an input: ready <= decided <= head (lanes of virtual_rx). Slots ready .. decided-1 are for
 * other hosts and hold the time they may go on; slots decided .. head-1 hold their arrival. Both parts are in order of
 * time. */
#ifndef VIRTUAL_FORWARDING_H
#define VIRTUAL_FORWARDING_H

#include "queue.h"

struct virtual_rx;

struct virtual_forwarding {
    uint64_t free;             /* ps: when the next packet can be taken up */
    uint64_t delay;            /* ps */
    uint64_t block;            /* ps a block; 0: no limit */
    uint16_t addr_hi, addr_lo; /* the host's own address */
};

/* Decides on the packets of a VC that arrived by `now`: those for the host go ahead of the others. */
void virtual_forwarding_decide(struct virtual_forwarding *f, struct virtual_rx *rx, unsigned vc, uint64_t now);

/* Time of the next packet of a VC that may go on or needs a decision; VIRTUAL_NEVER: none. */
uint64_t virtual_forwarding_next(const struct virtual_rx *rx, unsigned vc);

#endif
