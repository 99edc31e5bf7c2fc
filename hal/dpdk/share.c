/* share.c - allowances and rings between cores (share.h). */
#include "share.h"
#include "wire.h"

#include <rte_malloc.h>
#include <rte_prefetch.h>
#include <rte_ring_elem.h>

struct dpdk_share *dpdk_share_new(const char *name, uint32_t frames, int socket, uint64_t *drops)
{
    struct dpdk_share *s = rte_zmalloc_socket(NULL, sizeof *s, DPDK_APART, socket);
    if (!s)
        return NULL;
    s->drops = drops;
    s->ring = rte_ring_create_elem(name, sizeof(struct hx_desc), rte_align32pow2(frames + 1), socket,
                                   RING_F_SP_ENQ | RING_F_SC_DEQ);
    if (s->ring)
        return s;
    rte_free(s);
    return NULL;
}

void dpdk_share_free(struct dpdk_share *s)
{
    if (!s)
        return;
    (void)dpdk_share_drain(s);
    rte_ring_free(s->ring);
    rte_free(s);
}

/* ---- sending core ---- */

void dpdk_share_push(struct dpdk_share *s)
{
    /* The ring holds all blocks that can be outstanding; more than that was never granted. */
    unsigned pushed = rte_ring_enqueue_burst_elem(s->ring, s->hold, sizeof *s->hold, s->held, NULL);
    for (; pushed < s->held; pushed++) {
        s->drops[HX_DROP_OVERRUN]++;
        rte_pktmbuf_free(dpdk_mbuf(&s->hold[pushed]));
    }
    s->held = 0;
}

static void give_back(struct dpdk_share *s, unsigned vc, unsigned blocks)
{
    uint64_t returned = atomic_load_explicit(&s->returned, memory_order_relaxed);
    s->spent = hx_lane_add(s->spent, vc, blocks);
    s->idle[vc] = 0;
    atomic_store_explicit(&s->returned, hx_lane_add(returned, vc, blocks), memory_order_release);
}

void dpdk_share_rest(struct dpdk_share *s)
{
    if (s->held)
        dpdk_share_push(s);
    uint64_t left = dpdk_share_room(s);
    for (unsigned vc = 0; vc < HX_VCS; vc++) {
        bool is_used = hx_lane(s->spent, vc) != hx_lane(s->spent_before, vc);
        s->idle[vc] = hx_lane(left, vc) == 0 || is_used ? 0 : s->idle[vc] + 1;
        if (s->idle[vc] >= DPDK_IDLE_LOOPS)
            give_back(s, vc, hx_lane(left, vc));
    }
    s->spent_before = s->spent;
}

/* ---- owner ---- */

/* Lanes: blocks granted and neither returned nor taken. */
static uint64_t outstanding(const struct dpdk_share *s)
{
    uint64_t granted = atomic_load_explicit(&s->granted, memory_order_relaxed);
    uint64_t returned = atomic_load_explicit(&s->returned, memory_order_acquire);
    return hx_lanes_sub(hx_lanes_sub(granted, returned), s->taken);
}

static uint32_t outstanding_of(const struct dpdk_share *s, unsigned vc)
{
    return hx_lane(outstanding(s), vc);
}

static unsigned take_shared(struct dpdk_port *p, struct dpdk_share *s)
{
    struct hx_desc burst[DPDK_BURST];
    unsigned n = rte_ring_dequeue_burst_elem(s->ring, burst, sizeof *burst, DPDK_BURST, NULL);
    for (unsigned i = 0; i < n; i++) {
        uint32_t blocks = hx_blocks(burst[i].length);
        rte_prefetch0(dpdk_mbuf(&burst[i])); /* for the device */
        s->taken = hx_lane_add(s->taken, burst[i].vc, blocks);
        if (hx_credit_room(&p->cable.link.tx[burst[i].vc]) >= blocks) {
            dpdk_stage_written(p, &burst[i]);
        } else {
            p->counts.tx_dropped++;
            rte_pktmbuf_free(dpdk_mbuf(&burst[i]));
        }
    }
    return n;
}

/* True while a share that was returned unused pauses. */
static bool rests(struct dpdk_share *s, unsigned vc)
{
    uint16_t returned = hx_lane(atomic_load_explicit(&s->returned, memory_order_relaxed), vc);
    if (returned != hx_lane(s->returned_seen, vc))
        s->rest[vc] = DPDK_IDLE_LOOPS;
    else if (s->rest[vc])
        s->rest[vc]--;
    s->returned_seen = hx_lane_set(s->returned_seen, vc, returned);
    return s->rest[vc] > 0;
}

static void pass_turn(struct dpdk_turn *turn, unsigned vc, unsigned cores)
{
    turn->core[vc] = (uint8_t)(turn->core[vc] + 1U == cores ? 0 : turn->core[vc] + 1);
}

/* True if the turn is over: the owner sent, or could have sent; or the share did not use its blocks. */
static bool had_turn(const struct dpdk_port *p, struct dpdk_share *const *shares, unsigned cores,
                     struct dpdk_turn *turn, unsigned vc)
{
    struct dpdk_share *s = shares[turn->core[vc]];
    uint16_t own = (uint16_t)p->cable.link.tx[vc].sent;
    for (unsigned core = 0; core < cores; core++)
        own = (uint16_t)(own - (shares[core] ? hx_lane(shares[core]->taken, vc) : 0));
    bool sent = own != turn->own[vc];
    turn->own[vc] = own;
    return s ? rests(s, vc) : sent || hx_lane(dpdk_credit_room(p), vc) >= HX_PACKET_BLOCKS;
}

/* Returns the blocks to keep for the share in turn; passes the turn once it can send a packet. */
static uint32_t kept(struct dpdk_share *const *shares, unsigned cores, struct dpdk_turn *turn, unsigned vc)
{
    const struct dpdk_share *s = shares[turn->core[vc]];
    uint32_t has = s ? outstanding_of(s, vc) : 0;
    if (s && has >= HX_PACKET_BLOCKS)
        pass_turn(turn, vc, cores);
    return s && has < HX_PACKET_BLOCKS ? HX_PACKET_BLOCKS - has : 0;
}

static void grant_lanes(struct dpdk_share *s, uint64_t blocks)
{
    uint64_t granted = atomic_load_explicit(&s->granted, memory_order_relaxed);
    atomic_store_explicit(&s->granted, hx_lanes_add(granted, blocks), memory_order_relaxed);
}

/* Grants a share up to `fair` of the `left` blocks, if it can then send a packet. Returns blocks. */
static uint32_t grant(struct dpdk_share *s, unsigned vc, uint32_t fair, uint32_t left)
{
    uint32_t has = outstanding_of(s, vc);
    uint32_t give = has < fair ? fair - has : 0;
    give = give < left ? give : left;
    if (give == 0 || has + give < HX_PACKET_BLOCKS)
        return 0;
    grant_lanes(s, (uint64_t)give << (HX_LANE_BITS * vc));
    return give;
}

/* Blocks of a VC for each core while credit suffices. */
static uint32_t part_of(const struct dpdk_port *p, unsigned cores)
{
    return RTE_MAX(p->peer_blocks / RTE_MAX(cores, 1U), (uint32_t)HX_PACKET_BLOCKS);
}

/* Tops up the shares of one VC; the owner counts as one more share. Returns all blocks outstanding and kept. */
static uint32_t top_up(const struct dpdk_port *p, struct dpdk_share *const *shares, unsigned cores,
                       struct dpdk_turn *turn, unsigned vc)
{
    uint32_t room = hx_credit_room(&p->cable.link.tx[vc]);
    uint32_t out = 0;
    for (unsigned core = 0; core < cores; core++)
        out += shares[core] ? outstanding_of(shares[core], vc) : 0;
    uint32_t left = room > out ? room - out : 0;
    uint32_t fair = part_of(p, cores);
    if (had_turn(p, shares, cores, turn, vc))
        pass_turn(turn, vc, cores);
    for (unsigned n = 0; n < cores; n++) {
        unsigned core = turn->core[vc] + n < cores ? turn->core[vc] + n : turn->core[vc] + n - cores;
        if (!shares[core]) { /* the owner's part */
            left = left > fair ? left - fair : 0;
            continue;
        }
        uint32_t give = grant(shares[core], vc, fair, left);
        left -= give;
        out += give;
    }
    return out + kept(shares, cores, turn, vc);
}

/* Lanes: an even part of the room on each VC in use, and a little more, since new credit reaches the owner first. A
 * core that always saw more room at its own ports would always choose them. Other VCs: 0. */
static uint64_t even_parts(const struct dpdk_port *p, unsigned cores, uint64_t room)
{
    const uint32_t most = part_of(p, cores);
    const uint32_t share = (UINT16_MAX + 1U) / RTE_MAX(cores, 1U);
    uint64_t parts = 0;
    for (unsigned vc = 0; vc < p->cable.link.vcs; vc++)
        parts |= (uint64_t)RTE_MIN((hx_lane(room, vc) + most / 8) * share >> 16, most) << (HX_LANE_BITS * vc);
    return parts;
}

/* Lanes: what a share lacks of `parts`. */
static uint64_t missing(const struct dpdk_share *s, uint64_t parts)
{
    uint64_t less = hx_lanes_sub(parts, outstanding(s));
    uint64_t has_more = (less & HX_LANE_TOPS) >> (HX_LANE_BITS - 1);
    return less & ~(has_more * UINT16_MAX);
}

/* Tops up all shares to even parts, all VCs at once. Returns false, and does nothing, if a core would then lack room
 * for a packet. */
static bool top_up_evenly(struct dpdk_port *p, struct dpdk_share *const *shares, unsigned cores)
{
    const uint64_t room = dpdk_peer_room(p);
    const uint64_t parts = even_parts(p, cores, room);
    const uint64_t packet = HX_PACKET_BLOCKS * HX_LANE_ONES >> HX_LANE_BITS * ((HX_VCS - p->cable.link.vcs) % HX_VCS);
    uint64_t quota = 0;
    for (unsigned core = 0; core < cores; core++)
        quota += shares[core] ? outstanding(shares[core]) + missing(shares[core], parts) : 0;
    uint64_t scarce = hx_lanes_sub(parts, packet) | hx_lanes_sub(hx_lanes_sub(room, quota), packet);
    if (scarce & HX_LANE_TOPS)
        return false;
    for (unsigned core = 0; core < cores; core++) {
        uint64_t give = shares[core] ? missing(shares[core], parts) : 0;
        if (give)
            grant_lanes(shares[core], give);
    }
    p->quota = quota;
    return true;
}

unsigned dpdk_share_serve(struct dpdk_port *p, struct dpdk_share *const *shares, unsigned cores, struct dpdk_turn *turn)
{
    unsigned taken = 0;
    for (unsigned core = 0; core < cores; core++)
        taken += shares[core] && !dpdk_is_stuck(p) ? take_shared(p, shares[core]) : 0;
    if (top_up_evenly(p, shares, cores))
        return taken;
    for (unsigned vc = 0; vc < p->cable.link.vcs; vc++)
        p->quota = hx_lane_set(p->quota, vc, (uint16_t)top_up(p, shares, cores, turn, vc));
    return taken;
}

unsigned dpdk_share_waiting(const struct dpdk_share *s)
{
    return s->held + rte_ring_count(s->ring);
}

unsigned dpdk_share_drain(struct dpdk_share *s)
{
    struct hx_desc d;
    unsigned n = 0;
    for (; s->held > 0; n++)
        rte_pktmbuf_free(dpdk_mbuf(&s->hold[--s->held]));
    for (; rte_ring_dequeue_elem(s->ring, &d, sizeof d) == 0; n++)
        rte_pktmbuf_free(dpdk_mbuf(&d));
    return n;
}
