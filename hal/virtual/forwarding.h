/* forwarding.h - a host that forwards in software or by its memory: what it passes on takes a time, and it passes on no
 * more than so much in all.
 *
 *     a packet whose first block may be routed at r, for another host:
 *         taken up  = max(r, forwarding free)
 *         forwarding free = taken up + n * block of forwarding
 *         ready     = taken up + delay                               then as in any switch (timing.h)
 *
 * What is for the host itself, or comes from it, is not forwarded and passes those that are. Packets stay in the
 * input's buffer meanwhile, so credit holds back who sends more.
 *
 * Invariant of an input of such a host, per VC: ready <= judged <= head (lanes of virtual_rx). Slots ready .. judged-1
 * are for other hosts and say when they may go on, judged .. head-1 when they have come; both parts in the order of
 * their times, the first since one after the other is taken up. */
#ifndef VIRTUAL_FORWARDING_H
#define VIRTUAL_FORWARDING_H

#include "queue.h"

struct virtual_rx;

struct virtual_forwarding {
    uint64_t free;             /* ps: the next packet is taken up */
    uint64_t delay;            /* ps */
    uint64_t block;            /* ps of a block; 0: any number at once */
    uint16_t addr_hi, addr_lo; /* the host's own address */
};

/* Judges what has come by `now` on a VC: what is for the host goes before all others. */
void virtual_forwarding_decide(struct virtual_forwarding *f, struct virtual_rx *rx, unsigned vc, uint64_t now);

/* When the next on a VC may go on or is to be judged; VIRTUAL_NEVER: there is none. */
uint64_t virtual_forwarding_next(const struct virtual_rx *rx, unsigned vc);

#endif
