/* wire.h - the inline part of a port, run for every packet (port.h, hal_port.h). */
#ifndef DPDK_WIRE_H
#define DPDK_WIRE_H

#include "header.h"
#include "port.h"

/* One word counts packets and bytes of a burst; dpdk_settle() adds it to the totals once a burst. */
enum { DPDK_SUM_SHIFT = 40 };

static inline void dpdk_count(uint64_t *sum, unsigned length)
{
    *sum += ((uint64_t)1 << DPDK_SUM_SHIFT) + HX_HEADER_BYTES + length;
}

static inline void dpdk_settle(uint64_t *sum, uint64_t *packets, uint64_t *bytes)
{
    *packets += *sum >> DPDK_SUM_SHIFT;
    *bytes += *sum & (((uint64_t)1 << DPDK_SUM_SHIFT) - 1);
    *sum = 0;
}

/* True if the device takes no frames though the peer grants credit: then no more frames are staged. A loop stages at
 * most the peer's blocks, so the array never overflows. */
static inline bool dpdk_is_stuck(const struct dpdk_port *p)
{
    return p->staged_end - p->staged_first >= p->cable.link.vcs * p->peer_blocks;
}

/* Lanes: blocks the peer has room for; never more than its buffer, which fits a lane. */
static inline uint64_t dpdk_peer_room(const struct dpdk_port *p)
{
    const struct hx_credit_sender *tx = p->cable.link.tx;
    _Static_assert(HX_VCS == 4, "one term a VC");
    return (uint64_t)(tx[0].limit - tx[0].sent) | (uint64_t)(tx[1].limit - tx[1].sent) << HX_LANE_BITS |
           (uint64_t)(tx[2].limit - tx[2].sent) << 2 * HX_LANE_BITS |
           (uint64_t)(tx[3].limit - tx[3].sent) << 3 * HX_LANE_BITS;
}

/* Lanes: blocks of these that no other core may send. */
static inline uint64_t dpdk_credit_room(const struct dpdk_port *p)
{
    if (__builtin_expect(dpdk_is_stuck(p), 0))
        return 0;
    uint64_t room = dpdk_peer_room(p);
    if (__builtin_expect(p->quota == 0, 1))
        return room;
    for (unsigned vc = 0; vc < HX_VCS; vc++) {
        uint16_t has = hx_lane(room, vc);
        uint16_t quota = hx_lane(p->quota, vc);
        room = hx_lane_set(room, vc, (uint16_t)(has > quota ? has - quota : 0));
    }
    return room;
}

/* Stages a frame with written hop fields; dpdk_flush() adds grants. */
static inline void dpdk_stage_written(struct dpdk_port *p, const struct hx_desc *d)
{
    p->cable.link.tx[d->vc].sent += hx_blocks(d->length);
    p->staged[p->staged_end++] = dpdk_mbuf(d);
    dpdk_count(&p->transmitted, d->length);
}

/* Writes the hop fields and stages the frame. */
static inline void dpdk_stage(struct dpdk_port *p, const struct hx_desc *d)
{
    dpdk_write_hop(rte_pktmbuf_mtod(dpdk_mbuf(d), uint8_t *), d->vc, d->hops);
    dpdk_stage_written(p, d);
}

#endif
