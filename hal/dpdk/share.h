/* share.h - how cores that poll different ports of a node exchange packets without locks.
 *
 * A port belongs to the core that polls it; only this owner knows the credit of its cable. Every other core has a share
 * of the port: a ring of descriptors, and for each VC an allowance of blocks it may send through the ring.
 *
 *     sending core   { spent, returned }  -- descriptors -->   owner   { granted, taken }
 *                                         <-- granted ------
 *                                         --- returned ---->
 *
 *     allowance = granted - spent,  spent = sent + returned;    outstanding at the owner = granted - returned - taken
 *
 * All counts are blocks since the start, in lanes modulo 2^16, each with one writer. The owner keeps the outstanding
 * blocks within the cable's credit. A packet without credit (the link was reset) is dropped, as all packets in flight
 * are.
 *
 * While each core can have room for a packet, the owner tops up the shares to even parts. Otherwise it tops them up in
 * turn, by no less than a full packet. A turn lasts until its share could have sent a packet: new credit is kept for
 * that share, and the owner's packets wait, for the owner sees new credit first and would take it all. An unused share
 * is returned after a while and then pauses as long: otherwise a core could hold the last credit that another needs. */
#ifndef DPDK_SHARE_H
#define DPDK_SHARE_H

#include "port.h"

#include <rte_ring.h>
#include <stdatomic.h>

enum { DPDK_IDLE_LOOPS = 64 /* loops until an unused allowance is returned */ };

/* Data that one core writes and the other reads has lines of its own, apart from private data: a shared line moves
 * between caches. Counts are lanes by VC. */
struct dpdk_share {
    /* Written by the owner, read by the sending core. */
    _Alignas(DPDK_APART) _Atomic uint64_t granted;
    /* Written by the sending core, read by the owner. */
    _Alignas(DPDK_APART) _Atomic uint64_t returned;
    /* Private to the owner. */
    _Alignas(DPDK_APART) uint64_t taken; /* blocks of packets taken from the ring */
    uint64_t returned_seen;              /* at the last check */
    uint32_t rest[HX_VCS];               /* checks until the share may have a turn */
    /* Private to the sending core. */
    _Alignas(DPDK_APART) uint64_t spent;
    uint64_t spent_before; /* at the last check for idleness */
    uint32_t idle[HX_VCS]; /* loops without use */
    uint32_t held;         /* packets not yet in the ring */
    struct hx_desc hold[DPDK_BURST];
    /* Fixed. */
    _Alignas(DPDK_APART) struct rte_ring *ring;
    uint64_t *drops; /* [HX_DROP_COUNT], of the sending core */
};

/* Turns at one port, by VC; private to its owner. */
struct dpdk_turn {
    uint8_t core[HX_VCS];
    uint16_t own[HX_VCS]; /* blocks the owner had sent at the last check */
};

/* Makes a share. `name`: of the ring, unique in the process; `frames`: most outstanding at once; `drops`:
 * [HX_DROP_COUNT], of the sending core. Returns NULL without memory. */
struct dpdk_share *dpdk_share_new(const char *name, uint32_t frames, int socket, uint64_t *drops);
void dpdk_share_free(struct dpdk_share *s);

/* ---- sending core ---- */

/* Lanes: blocks that may be sent. */
static inline uint64_t dpdk_share_room(const struct dpdk_share *s)
{
    return hx_lanes_sub(atomic_load_explicit(&s->granted, memory_order_relaxed), s->spent);
}

/* Puts the held packets into the ring, in bursts: each access takes the ring's counters from the other core's cache. */
void dpdk_share_push(struct dpdk_share *s);

/* Holds one packet; hal_tx_credits() must have had room. Writes the header here, in this core's cache, so that the
 * owner need not read it. */
static inline void dpdk_share_send(struct dpdk_share *s, const struct hx_desc *d)
{
    dpdk_write_hop(rte_pktmbuf_mtod(dpdk_mbuf(d), uint8_t *), d->vc, d->hops);
    s->spent = hx_lane_add(s->spent, d->vc, hx_blocks(d->length));
    s->hold[s->held++] = *d;
    if (s->held == DPDK_BURST)
        dpdk_share_push(s);
}

/* Sends held packets and returns idle allowances. Call once a loop. */
void dpdk_share_rest(struct dpdk_share *s);

/* Returns the packets that are held or in the ring. */
unsigned dpdk_share_waiting(const struct dpdk_share *s);

/* ---- owner of the port ---- */

/* Stages packets of all `cores` shares (the owner's is NULL), then tops up. Returns packets. Call once a loop, after
 * the owner's own packets. */
unsigned dpdk_share_serve(struct dpdk_port *p, struct dpdk_share *const *shares, unsigned cores,
                          struct dpdk_turn *turn);

/* Frees the packets that are held or in the ring; returns how many. */
unsigned dpdk_share_drain(struct dpdk_share *s);

#endif
