/* transmit.c - set-up of a port, control frames, outgoing frames (port.h). */
#include "wire.h"

#include <rte_random.h>
#include <string.h>

/* ---- set up ---- */

static uint32_t slots_of(uint32_t blocks)
{
    return rte_align32pow2(blocks + HX_WINDOW + DPDK_BURST); /* a burst is written before it is known to fit */
}

/* Twice the peer's blocks: if staged frames reach or follow that many, a loop still finds room for its own
 * (dpdk_is_stuck()). */
static uint32_t staged_of(unsigned vcs, uint32_t peer_blocks)
{
    return 2 * (vcs * peer_blocks + DPDK_BURST);
}

uint32_t dpdk_port_frames(unsigned vcs, uint32_t blocks, uint32_t peer_blocks)
{
    return vcs * (blocks + peer_blocks) + DPDK_BURST;
}

size_t dpdk_port_bytes(unsigned vcs, uint32_t blocks, uint32_t peer_blocks)
{
    size_t bytes = (size_t)vcs * slots_of(blocks) * sizeof(struct hx_desc) +
                   staged_of(vcs, peer_blocks) * sizeof(struct rte_mbuf *);
    return RTE_CACHE_LINE_ROUNDUP(bytes);
}

void dpdk_port_init(struct dpdk_port *p, const struct dpdk_port_config *c, void *memory)
{
    *p = (struct dpdk_port){.cable = {.plane = c->plane,
                                      .period = c->credit_period,
                                      .ask_period = c->credit_period,
                                      .lose_credit = c->lose_credit,
                                      .key = c->key,
                                      .random = rte_rand()},
                            .arrivals = {.mask = slots_of(c->blocks) - 1},
                            .device = c->device,
                            .blocks = c->blocks,
                            .peer_blocks = c->peer_blocks,
                            .pool = c->pool,
                            .notices = c->notices,
                            .number = c->number,
                            .drops = c->drops,
                            .job = c->job,
                            .staged_size = staged_of(c->vcs, c->peer_blocks)};
    struct hx_desc *slots = memory;
    for (unsigned vc = 0; vc < c->vcs; vc++, slots += slots_of(c->blocks))
        p->arrivals.slots[vc] = slots;
    p->staged = (struct rte_mbuf **)(void *)slots;
    cable_begin(&p->cable, c->vcs, c->peer_blocks, c->blocks);
}

unsigned dpdk_port_waiting(const struct dpdk_port *p)
{
    return hx_lanes_sum(hx_lanes_sub(p->arrivals.arrived, p->arrivals.tail)) + p->staged_end - p->staged_first;
}

void dpdk_port_drain(struct dpdk_port *p)
{
    p->counts.tx_dropped += p->staged_end - p->staged_first;
    rte_pktmbuf_free_bulk(p->staged + p->staged_first, p->staged_end - p->staged_first);
    p->staged_first = p->staged_end = p->authenticated_end = 0;
    p->control_staged = false;
}

void dpdk_port_restart(struct dpdk_port *p)
{
    dpdk_port_drain(p);
    cable_begin(&p->cable, p->cable.link.vcs, p->peer_blocks, p->blocks);
}

/* ---- control frames ---- */

static struct rte_mbuf *new_control_frame(struct dpdk_port *p)
{
    struct rte_mbuf *m = rte_pktmbuf_alloc(p->pool);
    p->counts.no_memory += m == NULL;
    return m;
}

static void stage_control(struct dpdk_port *p, struct rte_mbuf *m)
{
    p->control_at = p->staged_end;
    p->staged[p->staged_end++] = m;
    p->control_staged = true;
}

static void stage_credit(struct dpdk_port *p, uint64_t now)
{
    struct rte_mbuf *m = new_control_frame(p);
    if (!m)
        return;
    m->data_len = (uint16_t)cable_credit_write(&p->cable, rte_pktmbuf_mtod(m, uint8_t *));
    m->pkt_len = m->data_len;
    cable_credit_sent(&p->cable, now);
    if (cable_new_sessions(&p->cable))
        dpdk_port_drain(p);
    if (cable_loses_credit(&p->cable)) {
        p->counts.lost_credits++;
        rte_pktmbuf_free(m);
        return;
    }
    stage_control(p, m);
    p->counts.tx_credits++;
}

void dpdk_look_at_notices(struct dpdk_port *p, uint64_t now)
{
    if (!p->notices)
        return;
    dpdk_notices_lock(p->notices);
    cable_notices_follow(&p->cable, &p->notices->of, p->number, now);
    dpdk_notices_unlock(p->notices);
    p->looks_at_notices = true;
}

/* A frame is due, or none is until the next look. */
static void stage_notices(struct dpdk_port *p, uint64_t now)
{
    struct rte_mbuf *m = new_control_frame(p);
    if (!m)
        return;
    dpdk_notices_lock(p->notices);
    unsigned bytes = cable_notices_write(&p->cable, &p->notices->of, p->number, now, rte_pktmbuf_mtod(m, uint8_t *));
    dpdk_notices_unlock(p->notices);
    p->looks_at_notices = bytes != 0;
    if (bytes == 0) {
        rte_pktmbuf_free(m);
        return;
    }
    m->data_len = (uint16_t)bytes;
    m->pkt_len = bytes;
    stage_control(p, m);
    p->counts.tx_notices++;
}

/* ---- outgoing frames ---- */

/* Writes all grants into the first staged frames, one VC each: the peer learns them at once, and the other frames need
 * no change. */
static void grant(struct dpdk_port *p)
{
    uint32_t first = RTE_MAX(p->staged_first, p->authenticated_end);
    uint32_t last = first + p->cable.link.vcs;
    for (uint32_t at = first; at < p->staged_end && at < last; at++) {
        if (p->control_staged && at == p->control_at)
            continue;
        unsigned vc = cable_grant(&p->cable);
        dpdk_write_grant(rte_pktmbuf_mtod(p->staged[at], uint8_t *), vc, p->cable.notified[vc]);
    }
}

/* Adds authentication tags, in order of sending. A frame without room for a tag goes without, and the peer drops it;
 * the node's own mbufs have room. */
static void authenticate(struct dpdk_port *p)
{
    for (uint32_t at = RTE_MAX(p->staged_first, p->authenticated_end); at < p->staged_end; at++) {
        struct rte_mbuf *m = p->staged[at];
        uint32_t length = m->pkt_len - HX_HEADER_BYTES;
        if (rte_pktmbuf_linearize(m) == 0 && rte_pktmbuf_append(m, HX_AUTH_TAG_BYTES))
            cable_authenticate(&p->cable, rte_pktmbuf_mtod(m, uint8_t *), length);
    }
}

/* Moves the staged frames to the front if a step could overrun the end. */
static void make_room(struct dpdk_port *p)
{
    uint32_t left = p->staged_end - p->staged_first;
    if (p->staged_end <= p->staged_size / 2)
        return;
    /* The elements are pointers. NOLINTNEXTLINE(bugprone-sizeof-expression) */
    memmove(p->staged, p->staged + p->staged_first, left * sizeof(struct rte_mbuf *));
    p->control_at -= p->staged_first;
    p->staged_first = 0;
    p->staged_end = left;
}

unsigned dpdk_flush(struct dpdk_port *p, uint64_t now)
{
    grant(p);
    if (p->cable.key)
        authenticate(p);
    /* At most one control frame is staged: they must not pile up at a device that takes none. */
    if (!p->control_staged && cable_credit_is_due(&p->cable, now))
        stage_credit(p, now);
    if (!p->control_staged && p->looks_at_notices)
        stage_notices(p, now);
    dpdk_settle(&p->transmitted, &p->counts.tx_packets, &p->counts.tx_bytes);
    uint32_t left = p->staged_end - p->staged_first;
    if (left == 0)
        return 0;
    unsigned sent = rte_eth_tx_burst(p->device, 0, p->staged + p->staged_first, (uint16_t)left);
    p->staged_first += sent;
    p->control_staged = p->control_staged && p->control_at >= p->staged_first;
    if (p->staged_first == p->staged_end)
        p->staged_first = p->staged_end = 0;
    else
        make_room(p);
    p->authenticated_end = p->cable.key ? p->staged_end : 0;
    return sent;
}
