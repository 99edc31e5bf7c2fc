/* receive.c - frames in: judged, their credit counted, their descriptors put into the slots (port.h). */
#include "header.h"
#include "hxmesh/error.h"
#include "wire.h"

#include <rte_cycles.h>
#include <rte_prefetch.h>

enum { AHEAD = 8 /* frames whose header is being fetched while one is judged */ };

static void drop(struct dpdk_port *p, struct rte_mbuf *m, enum hx_drop reason)
{
    p->drops[reason]++;
    p->counts.rx_dropped++;
    rte_pktmbuf_free(m);
}

/* ---- credit frames ---- */

/* Sessions are numbered by clocks, so both ends may have the same number by chance, and a frame of this end's own may
 * come back from a loop in the cabling. Either way the number says nothing about the peer. As long as the link is not
 * open this end takes another number, by steps that two ends do not keep in time. */
static void meet_own_number(struct dpdk_port *p)
{
    uint64_t now = rte_rdtsc();
    p->counts.reflected++;
    if (p->link.open)
        return;
    p->link.session += 1 + (uint32_t)(now ^ now >> 7) % 16;
    p->link.session += p->link.session == 0;
    p->link.answer = true;
}

/* Whether the peer is not who the counts say: again and again frames come that know the present session of this end,
 * and none of the peer's known session does. That number was a lie then (an old frame that was kept and sent again),
 * or the peer's clock went back over a restart. */
static bool peer_is_another(struct dpdk_port *p, const struct hx_credit_frame *f)
{
    bool behind = p->link.peer_session && (int32_t)(f->session - p->link.peer_session) < 0;
    if (!behind || p->link.open || f->peer_session != p->link.session) {
        p->stuck = f->session == p->link.peer_session ? 0 : p->stuck;
        return false;
    }
    return ++p->stuck >= DPDK_STUCK_FRAMES;
}

static void take_credit(struct dpdk_port *p, const struct hx_credit_frame *f)
{
    uint32_t session = p->link.session;
    uint32_t peer_session = p->link.peer_session;
    if (f->session == session) {
        meet_own_number(p);
        return;
    }
    /* The peer knows a session of this end that this end does not: its clock has gone back. */
    if ((int32_t)(f->peer_session - session) > 0 && f->peer_session && !p->link.open)
        hx_credit_link_up(&p->link, p->peer_blocks, p->blocks, dpdk_next_session(f->peer_session));
    if (peer_is_another(p, f)) {
        p->stuck = 0;
        p->link.peer_session = 0;
    }
    hx_credit_link_take(&p->link, f);
    if (p->link.session != session || p->link.peer_session != peer_session)
        dpdk_port_drain(p);
}

/* ---- data frames ---- */

/* Counts a packet that fits, and what a link that is open grants; the rest is for credit.c. */
static inline __attribute__((always_inline)) bool arrive(struct dpdk_port *p, unsigned vc, uint32_t blocks)
{
    struct hx_credit_receiver *rx = &p->link.rx[vc];
    if (__builtin_expect(p->link.open && blocks <= rx->buffer - (rx->received - rx->freed), 1)) {
        rx->received += blocks;
        return true;
    }
    uint32_t session = p->link.session;
    bool taken = hx_credit_link_arrive(&p->link, vc, blocks);
    if (p->link.session != session)
        dpdk_port_drain(p);
    return taken;
}

static inline __attribute__((always_inline)) void take_data(struct dpdk_port *p, struct rte_mbuf *m, struct hx_desc *d,
                                                            const uint8_t *frame)
{
    unsigned credit_vc = frame[17];
    if (credit_vc != HX_NO_CREDIT)
        hx_credit_link_grant(&p->link, credit_vc, dpdk_get32(frame + 20));
    if (__builtin_expect(!arrive(p, d->vc, hx_blocks(d->length)), 0)) {
        drop(p, m, HX_DROP_OVERRUN);
        return;
    }
    *dpdk_slot(p, d->vc, hx_lane(p->arrived, d->vc)) = *d;
    p->arrived = hx_lane_add(p->arrived, d->vc, 1);
    dpdk_count(&p->received, d->length);
}

/* Bytes behind the payload are padding, and no business of the next switch. False: the frame is in several pieces of
 * which the first does not even hold the header. */
static bool trim(struct rte_mbuf *m, uint32_t bytes)
{
    if (m->nb_segs == 1) {
        m->pkt_len = bytes;
        m->data_len = (uint16_t)bytes;
        return true;
    }
    return m->data_len >= HX_HEADER_BYTES && rte_pktmbuf_trim(m, (uint16_t)(m->pkt_len - bytes)) == 0;
}

/* What is no common frame: an acknowledgement, a report, a credit frame, or nothing. False: the mbuf is gone. */
static __attribute__((noinline)) bool judge(struct dpdk_port *p, struct rte_mbuf *m, struct hx_desc *d)
{
    const uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);
    struct hx_header h;
    struct hx_credit_frame f;
    int error = m->data_len >= HX_HEADER_BYTES ? hx_frame_decode(&h, frame, m->pkt_len) : HX_E_SHORT;
    if (error == HX_OK && h.plane == p->plane) {
        *d = (struct hx_desc){
            .length = h.length, .vc = h.vc, .hops = h.hops, .dst_gx = h.dst_gx, .dst_gy = h.dst_gy, .job = h.job};
        dpdk_set_mbuf(d, m);
        return true;
    }
    if (error == HX_E_ETHERTYPE && hx_credit_decode(&f, frame, m->data_len) == HX_OK && f.plane == p->plane) {
        p->counts.rx_credits++;
        take_credit(p, &f);
        rte_pktmbuf_free(m);
        return false;
    }
    drop(p, m, HX_DROP_MALFORMED);
    return false;
}

static inline __attribute__((always_inline)) void take_frame(struct dpdk_port *p, struct rte_mbuf *m,
                                                             const struct dpdk_expected *expected)
{
    struct hx_desc d;
    const uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);
    bool common = m->data_len >= HX_HEADER_BYTES && dpdk_read_header(&d, frame, m->pkt_len, expected, (uintptr_t)m);
    if (__builtin_expect(!common, 0) && !judge(p, m, &d))
        return;
    uint32_t bytes = (uint32_t)HX_HEADER_BYTES + d.length;
    if (__builtin_expect(m->pkt_len != bytes, 0) && !trim(m, bytes)) {
        drop(p, m, HX_DROP_MALFORMED);
        return;
    }
    take_data(p, m, &d, frame);
}

unsigned dpdk_receive(struct dpdk_port *p)
{
    struct rte_mbuf *burst[DPDK_BURST];
    const struct dpdk_expected expected = dpdk_expect(p->plane);
    unsigned n = rte_eth_rx_burst(p->device, 0, burst, DPDK_BURST);
    for (unsigned i = 0; i < n && i < AHEAD; i++)
        rte_prefetch0(rte_pktmbuf_mtod(burst[i], void *));
    for (unsigned i = 0; i < n; i++) {
        if (i + AHEAD < n)
            rte_prefetch0(rte_pktmbuf_mtod(burst[i + AHEAD], void *));
        take_frame(p, burst[i], &expected);
    }
    dpdk_settle(&p->received, &p->counts.rx_packets, &p->counts.rx_bytes);
    return n;
}
