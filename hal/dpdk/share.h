/* share.h - how cores that each poll some ports of one node pass packets on without locks.
 *
 * A port belongs to the core that polls it; this core alone knows the credits of its cable. Every other core has a
 * share of each such port: a ring of descriptors, and per VC an allowance of blocks it may still send by that ring.
 *
 *     sending core   { spent, returned }  -- descriptors -->   owner   { granted, taken }
 *                                         <-- granted ------
 *                                         --- returned ---->
 *
 *     allowance = granted - spent,  spent = sent + returned;    outstanding at the owner = granted - returned - taken
 *
 * All counts are blocks since the start in lanes, modulo 2^16, each with one writer. The owner keeps the sum of what is
 * outstanding within the credit of the cable; a packet that finds none after all (the link began anew) is dropped, as
 * all that was under way is.
 *
 * While there is enough for a packet of each core, shares are topped up to even parts. Where there is not, the owner
 * tops them up in turn, never by so little that a full packet would not fit. Where credit is scarce, a turn lasts until
 * whose it is could have sent one: what comes is kept for a share whose turn it is, and the owner's own packets wait
 * meanwhile; else they, who see new credit first, would take all of it. A share that was not used for a while is
 * returned, and rests for as long: else one core could hold the last credit that another waits for. */
#ifndef DPDK_SHARE_H
#define DPDK_SHARE_H

#include "port.h"

#include <rte_ring.h>
#include <stdatomic.h>

enum { DPDK_IDLE_LOOPS = 64 /* of a core that has an allowance and does not use it, until it goes back */ };

/* What one core writes and the other reads stands apart from what either has for itself: a line that both touch goes to
 * and fro. Counts are lanes by VC. */
struct dpdk_share {
    /* The owner writes, the sending core reads. */
    _Alignas(DPDK_APART) _Atomic uint64_t granted;
    /* The sending core writes, the owner reads. */
    _Alignas(DPDK_APART) _Atomic uint64_t returned;
    /* The owner's. */
    _Alignas(DPDK_APART) uint64_t taken; /* blocks of packets taken from the ring */
    uint64_t returned_seen;              /* as of the last look */
    uint32_t rest[HX_VCS];               /* looks until nothing is in the way of its turn */
    /* The sending core's. */
    _Alignas(DPDK_APART) uint64_t spent;
    uint64_t spent_before; /* as of the last look for idleness */
    uint32_t idle[HX_VCS]; /* loops without use */
    uint32_t held;         /* packets that are not in the ring yet */
    struct hx_desc hold[DPDK_BURST];
    /* Fixed. */
    _Alignas(DPDK_APART) struct rte_ring *ring;
    uint64_t *drops; /* [HX_DROP_COUNT], the sending core's */
};

/* Of one port, its owner's: whose turn it is, by VC. */
struct dpdk_turn {
    uint8_t core[HX_VCS];
    uint16_t own[HX_VCS]; /* blocks the owner had sent by the last look */
};

/* `name` of the ring, unique in the process; `frames`: that can be outstanding at once; `drops`: [HX_DROP_COUNT], the
 * sending core's. NULL: no memory. */
struct dpdk_share *dpdk_share_new(const char *name, uint32_t frames, int socket, uint64_t *drops);
void dpdk_share_free(struct dpdk_share *s);

/* ---- the sending core ---- */

/* Lanes: blocks that may be sent now. */
static inline uint64_t dpdk_share_room(const struct dpdk_share *s)
{
    return hx_lanes_sub(atomic_load_explicit(&s->granted, memory_order_relaxed), s->spent);
}

/* Puts what is held into the ring: a burst at a time, since each time takes the ring's counters from the other core. */
void dpdk_share_push(struct dpdk_share *s);

/* Holds one packet that hal_tx_credits had room for. This core has the frame's header in its cache and writes it; the owner
 * need not look at it. */
static inline void dpdk_share_send(struct dpdk_share *s, const struct hx_desc *d)
{
    dpdk_write_hop(rte_pktmbuf_mtod(dpdk_mbuf(d), uint8_t *), d->vc, d->hops);
    s->spent = hx_lane_add(s->spent, d->vc, hx_blocks(d->length));
    s->hold[s->held++] = *d;
    if (s->held == DPDK_BURST)
        dpdk_share_push(s);
}

/* Call once a loop: sends what is held, returns what was not used for a while. */
void dpdk_share_rest(struct dpdk_share *s);

/* Packets that are held, and those that the owner has not taken yet. */
unsigned dpdk_share_waiting(const struct dpdk_share *s);

/* ---- the owner of the port ---- */

/* Takes packets of all `cores` shares (the owner's own is NULL) to the port's staged frames, then tops up. Returns
 * packets taken. Call once a loop, after the owner's own packets. */
unsigned dpdk_share_serve(struct dpdk_port *p, struct dpdk_share *const *shares, unsigned cores,
                          struct dpdk_turn *turn);

/* Frees what is held and what lies in the ring. */
unsigned dpdk_share_drain(struct dpdk_share *s);

#endif
