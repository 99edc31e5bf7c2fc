/* port.h - one end of a cable on the DPDK platform: an ethdev, a cable (hal/cable), frames to send.
 *
 *     ethdev --> receive.c: judge, count credit --> arrivals --> firmware's step --> staged --> transmit.c --> ethdev
 *                               (one VC each)    hal_port.h
 *
 * A port with a key (hal/cable) looks at each frame by itself, and puts all of it into one mbuf: the seal is over the
 * whole frame, and costs more than that.
 *
 * Frames stay in the mbufs they came in; a descriptor carries the address (dpdk_mbuf). What transit needs is read from
 * a frame once, when it comes, and the hop fields are written once, when it goes.
 *
 * Staged frames are those that the device has not taken yet. A peer may grant more without having got them, so credit
 * does not bound them: where there are as many as the peer has blocks, in all VCs, the port has no room until the
 * device takes some (wire.h).
 *
 * A port belongs to one core (lcore): no locks, no atomic operations. What others read of it are its counts. */
#ifndef DPDK_PORT_H
#define DPDK_PORT_H

#include "hal/cable/arrivals.h"
#include "hal/cable/cable.h"
#include "header.h"

#include <rte_ethdev.h>
#include <rte_mbuf.h>

enum {
    DPDK_BURST = 32,
    DPDK_NO_DEVICE = RTE_MAX_ETHPORTS,
    DPDK_APART = 128, /* bytes between what is one core's and what is another's: lines of 64 are fetched in pairs */
    DPDK_MTU = HX_MAX_FRAME - RTE_ETHER_HDR_LEN /* bytes behind the Ethernet header of the largest frame */
};

/* Names for reports; the values are sums since the start. */
#define DPDK_COUNTS(X)                                                                                                 \
    X(rx_packets) /* data frames taken */                                                                              \
    X(rx_bytes)   /* of these, headers included */                                                                     \
    X(tx_packets) /* data frames staged */                                                                             \
    X(tx_bytes)                                                                                                        \
    X(rx_credits)   /* credit frames taken */                                                                          \
    X(tx_credits)   /* credit frames staged */                                                                         \
    X(rx_dropped)   /* frames of either type that were dropped on arrival, by whatever reason */                       \
    X(tx_dropped)   /* staged frames of a session that ended, or of a link that went down */                           \
    X(reflected)    /* credit frames that were this end's own */                                                       \
    X(strangers)    /* credit frames of another session than the present one (hxmesh/credit.h) */                      \
    X(lost_credits) /* credit frames not sent on purpose */                                                            \
    X(no_memory)    /* credit frames not sent for want of an mbuf; the next one says the same */
struct dpdk_counts {
#define DPDK_COUNT_MEMBER(name) uint64_t name;
    DPDK_COUNTS(DPDK_COUNT_MEMBER)
#undef DPDK_COUNT_MEMBER
};

struct dpdk_port {
    /* What a burst works on. */
    struct cable_end cable;
    struct arrivals arrivals;
    uint64_t quota;           /* lanes: blocks of the peer's that other cores may send (share.h) */
    uint64_t transmitted;     /* since the last flush, see dpdk_count */
    struct rte_mbuf **staged; /* [staged_size] */
    uint32_t staged_first, staged_end, staged_size;
    uint32_t authenticated_end; /* staged frames before it bear their seals: nothing is written in them any more */
    uint32_t credit_at;         /* where among the staged a credit frame stands, if any does */
    bool credit_staged;
    uint16_t device; /* ethdev; DPDK_NO_DEVICE: no cable */
    uint64_t *drops; /* [HX_DROP_COUNT], its core's */
    struct dpdk_counts counts;
    /* Fixed. */
    struct rte_mempool *pool; /* for credit frames */
    uint32_t blocks;          /* of buffer a VC, here */
    uint32_t peer_blocks;     /* and at the peer, at most */
    struct dpdk_job job;      /* at a port of a network that leads to a board: the board's */
    char apart[DPDK_APART];   /* the next port of a node may be another core's */
};

struct dpdk_port_config {
    uint16_t device;
    uint8_t plane;
    uint8_t vcs;                   /* of the fabric */
    uint32_t blocks, peer_blocks;  /* 32 .. 1024 */
    uint32_t lose_credit;          /* 0: none */
    uint64_t credit_period;        /* TSC */
    const struct hx_auth_key *key; /* lives as long as the port; NULL: none */
    struct rte_mempool *pool;
    uint64_t *drops;
    struct dpdk_job job; /* whose packets may come; of an accelerator any: its switch looks at their tags */
};

/* ---- an mbuf's address in a descriptor: in `buffer` and `flow` ---- */

enum { DPDK_ADDRESS_BITS = 48 /* whoever makes a pool of mbufs sees to it */ };

static inline void dpdk_set_mbuf(struct hx_desc *d, const struct rte_mbuf *m)
{
    d->buffer = (uint32_t)(uintptr_t)m;
    d->flow = (uint16_t)((uint64_t)(uintptr_t)m >> 32);
}

static inline struct rte_mbuf *dpdk_mbuf(const struct hx_desc *d)
{
    return (struct rte_mbuf *)(uintptr_t)((uint64_t)d->flow << 32 | d->buffer);
}

/* ---- set up ---- */

/* Frames that can lie in a port's buffers, waiting or staged: what its mbufs must be enough for. */
uint32_t dpdk_port_frames(unsigned vcs, uint32_t blocks, uint32_t peer_blocks);
/* Bytes of memory for a port, 64-byte aligned. */
size_t dpdk_port_bytes(unsigned vcs, uint32_t blocks, uint32_t peer_blocks);
/* The device is configured and started by the caller. */
void dpdk_port_init(struct dpdk_port *p, const struct dpdk_port_config *config, void *memory);

/* The cable went down or came up again: counts begin anew, what is staged is dropped. */
void dpdk_port_restart(struct dpdk_port *p);
/* Drops what is staged. */
void dpdk_port_drain(struct dpdk_port *p);

/* Packets that wait here, and frames that the device has not taken. */
unsigned dpdk_port_waiting(const struct dpdk_port *p);

/* ---- the loop: receive, step, flush ---- */

/* Takes in one burst. Returns the frames that came. */
unsigned dpdk_receive(struct dpdk_port *p);
/* Sends the credit frame that is due, then whatever is staged. Returns the frames the device took. */
unsigned dpdk_flush(struct dpdk_port *p, uint64_t now);

#endif
