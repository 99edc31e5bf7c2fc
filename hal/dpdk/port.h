/* port.h - one end of a cable on the DPDK platform: an ethdev, a cable (hal/cable), frames to send.
 *
 *     ethdev --> receive.c: check, count credit --> arrivals --> firmware's step --> staged --> transmit.c --> ethdev
 *                               (one VC each)    hal_port.h
 *
 * A port with a key (hal/cable) handles each frame alone and in one mbuf: its authentication tag covers the whole frame
 * and costs more than that.
 *
 * Frames stay in the mbufs they arrived in; a descriptor carries the address (dpdk_mbuf()). Transit reads a frame's
 * header once, at its arrival, and writes the hop fields once, at its departure.
 *
 * Staged frames are those that the device has not taken. Credit does not bound them, for a peer may grant more without
 * receiving them. So a port with as many staged frames as the peer has blocks, over all VCs, has no room until the
 * device takes some (wire.h).
 *
 * A port belongs to one core (lcore): no locks, no atomic operations. Other threads read only its counts. */
#ifndef DPDK_PORT_H
#define DPDK_PORT_H

#include "hal/cable/arrivals.h"
#include "hal/cable/notices.h"
#include "header.h"

#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_spinlock.h>
#include <stdatomic.h>

enum {
    DPDK_BURST = 32,
    DPDK_NO_DEVICE = RTE_MAX_ETHPORTS,
    DPDK_APART = 128, /* bytes between data of different cores: 64-byte lines are fetched in pairs */
    DPDK_MTU = HX_MAX_FRAME - RTE_ETHER_HDR_LEN /* bytes behind the Ethernet header of the largest frame */
};

/* Names for reports; values are totals. */
#define DPDK_COUNTS(X)                                                                                                 \
    X(rx_packets) /* data frames accepted */                                                                           \
    X(rx_bytes)   /* of these, headers included */                                                                     \
    X(tx_packets) /* data frames staged */                                                                             \
    X(tx_bytes)                                                                                                        \
    X(rx_credits)   /* credit frames accepted */                                                                       \
    X(tx_credits)   /* credit frames staged */                                                                         \
    X(rx_dropped)   /* frames dropped on arrival, any type and reason */                                               \
    X(tx_dropped)   /* staged frames dropped, for a session or link ended */                                           \
    X(reflected)    /* control frames sent by this end itself */                                                       \
    X(strangers)    /* control frames of another session (hxmesh/credit.h) */                                          \
    X(lost_credits) /* credit frames dropped on purpose */                                                             \
    X(rx_notices)   /* frames of notices accepted */                                                                   \
    X(tx_notices)   /* frames of notices staged */                                                                     \
    X(no_memory)    /* control frames without mbuf; the next one replaces them */
struct dpdk_counts {
#define DPDK_COUNT_MEMBER(name) uint64_t name;
    DPDK_COUNTS(DPDK_COUNT_MEMBER)
#undef DPDK_COUNT_MEMBER
};

/* Notices of dead links of a node, of all its ports and cores. */
struct dpdk_notices {
    _Atomic uint32_t changes; /* of.changes, for those without the lock */
    rte_spinlock_t lock;      /* of all that follows */
    struct hx_notices of;
    struct hx_dead_links dead;
    void *memory, *dead_memory; /* the owner's */
};

static inline void dpdk_notices_lock(struct dpdk_notices *n)
{
    rte_spinlock_lock(&n->lock);
}

static inline void dpdk_notices_unlock(struct dpdk_notices *n)
{
    atomic_store_explicit(&n->changes, n->of.changes, memory_order_relaxed);
    rte_spinlock_unlock(&n->lock);
}

struct dpdk_port {
    /* Used in each burst. */
    struct cable_end cable;
    struct arrivals arrivals;
    uint64_t quota;           /* lanes: blocks of the peer that other cores may send (share.h) */
    uint64_t transmitted;     /* packets and bytes since the last flush, see dpdk_count() */
    struct rte_mbuf **staged; /* [staged_size] */
    uint32_t staged_first, staged_end, staged_size;
    uint32_t authenticated_end; /* staged frames before it have their authentication tags and must not change */
    uint32_t control_at;        /* index of the staged control frame */
    bool control_staged;
    bool looks_at_notices; /* some may be due */
    uint16_t device;       /* ethdev; DPDK_NO_DEVICE: no cable */
    uint64_t *drops;       /* [HX_DROP_COUNT], of its core */
    struct dpdk_counts counts;
    /* Fixed. */
    struct rte_mempool *pool;     /* for control frames */
    struct dpdk_notices *notices; /* NULL: the port has none */
    unsigned number;              /* of the port, in notices */
    uint32_t blocks;              /* buffer of a VC here */
    uint32_t peer_blocks;         /* buffer of a VC at the peer, maximum */
    struct dpdk_job job;          /* at a tree switch's port to a board: the job of the board */
    char apart[DPDK_APART];       /* the next port may belong to another core */
};

struct dpdk_port_config {
    uint16_t device;
    uint8_t plane;
    uint8_t vcs;                   /* of the fabric */
    uint32_t blocks, peer_blocks;  /* 32 .. 1024 */
    uint32_t lose_credit;          /* one credit frame in so many is lost; 0: none */
    uint64_t credit_period;        /* TSC */
    const struct hx_auth_key *key; /* outlives the port; NULL: none */
    struct rte_mempool *pool;
    struct dpdk_notices *notices; /* of the node; NULL: the port leads to no other node */
    unsigned number;              /* of the port, in notices */
    uint64_t *drops;
    struct dpdk_job job; /* the only job accepted; at an accelerator any: its switch checks tags */
};

/* ---- address of an mbuf in a descriptor: `buffer` and `flow` ---- */

enum { DPDK_ADDRESS_BITS = 48 /* checked by the owner of the mbuf pool */ };

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

/* Most frames in a port's buffers, waiting or staged; it needs as many mbufs. */
uint32_t dpdk_port_frames(unsigned vcs, uint32_t blocks, uint32_t peer_blocks);
/* Bytes of memory for a port, 64-byte aligned. */
size_t dpdk_port_bytes(unsigned vcs, uint32_t blocks, uint32_t peer_blocks);
/* The caller configures and starts the device. */
void dpdk_port_init(struct dpdk_port *p, const struct dpdk_port_config *config, void *memory);

/* Restarts the credit counts after the cable went down or came up; drops staged frames. */
void dpdk_port_restart(struct dpdk_port *p);
/* Drops staged frames. */
void dpdk_port_drain(struct dpdk_port *p);

/* Follows the session for notices, and looks for due ones in the next flushes. Call it some thousand times a second. */
void dpdk_look_at_notices(struct dpdk_port *p, uint64_t now);

/* Returns the packets that wait here, and the frames that the device has not taken. */
unsigned dpdk_port_waiting(const struct dpdk_port *p);

/* ---- the loop: receive, step, flush ---- */

/* Receives one burst. Returns its frames. */
unsigned dpdk_receive(struct dpdk_port *p);
/* Sends a control frame if due, then the staged frames. Returns the frames that the device took. */
unsigned dpdk_flush(struct dpdk_port *p, uint64_t now);

#endif
