/* check_switch.c - the contract of a switch's functions (include/hxmesh/hal.h). */
#include "hxmesh/lanes.h"
#include "kit.h"

#include <string.h>

enum { SHORT = 600 /* bytes: three blocks */ };

static void try_news(struct kit *k)
{
    if (!kit_expect(k, kit_bring(k, 0, SHORT, 1), "no packet can be sent"))
        return;
    kit_expect(k, hal_rx_pending(k->w.sw[1]) >> HX_W & 1, "bit %u is clear, though a packet has arrived at input W",
               HX_W);
    kit_settle(k);
}

static void try_open_outputs(struct kit *k)
{
    kit_expect(k, hal_tx_ready(k->w.sw[0]) >> HX_E & 1, "bit %u is clear, though output E has room", HX_E);
}

static void try_consumed(struct kit *k)
{
    for (unsigned n = 1; n <= 3; n++) {
        uint16_t before = hx_lane(hal_consumed(k->w.sw[1], HX_W), 1);
        if (!kit_expect(k, kit_bring(k, 1, SHORT, n), "no packet can be sent"))
            return;
        kit_expect(k, hx_lane(hal_consumed(k->w.sw[1], HX_W), 1) == before, "lane 1 moved though nothing was released");
        kit_drop_all(k, 1, HX_W, 1);
        uint16_t after = hx_lane(hal_consumed(k->w.sw[1], HX_W), 1);
        kit_expect(k, after == (uint16_t)(before + 1), "lane 1 went from %u to %u when one position was released",
                   before, after);
    }
}

static void try_lanes(struct kit *k)
{
    for (unsigned vc = 0; vc < HX_VCS; vc++) {
        if (!kit_expect(k, kit_bring(k, vc, SHORT, vc), "no packet can be sent on VC %u", vc))
            return;
        for (unsigned lane = 0; lane < HX_VCS; lane++)
            kit_expect(k, kit_waiting(k, 1, HX_W, lane) == (lane <= vc),
                       "lane %u counts %u packets after one packet on each of VC 0 to %u", lane,
                       kit_waiting(k, 1, HX_W, lane), vc);
    }
    kit_settle(k);
}

/* Sends continuously while the receiver releases nothing. */
static void try_window(struct kit *k)
{
    for (unsigned n = 0; n < 4 * HX_WINDOW && kit_bring(k, 0, 1, n); n++) {
        unsigned ahead = kit_waiting(k, 1, HX_W, 0);
        if (!kit_expect(k, ahead <= HX_WINDOW, "%u positions are ahead of the released ones; a window has %u", ahead,
                        HX_WINDOW))
            return;
    }
    kit_settle(k);
}

static void try_arrival(struct kit *k)
{
    enum { PACKETS = 3 };
    struct hx_desc was[PACKETS];
    for (unsigned n = 0; n < PACKETS; n++) {
        if (!kit_expect(k, kit_bring(k, 0, SHORT + n, n) && kit_waiting(k, 1, HX_W, 0) == n + 1,
                        "packet %u of %u does not arrive", n + 1, PACKETS))
            return;
        was[n] = *kit_arrival(k, 1, HX_W, 0, n);
        kit_expect(k, was[n].length == SHORT + n, "packet %u has a length of %u, not %u: not in the order of sending",
                   n + 1, was[n].length, SHORT + n);
    }
    const struct hx_desc *at[PACKETS];
    for (unsigned n = 0; n < PACKETS; n++)
        at[n] = kit_arrival(k, 1, HX_W, 0, n);
    for (unsigned n = 0; n < PACKETS; n++)
        kit_expect(k,
                   kit_arrival(k, 1, HX_W, 0, n) == at[n] && at[n]->buffer == was[n].buffer &&
                       at[n]->length == was[n].length,
                   "the descriptor of packet %u changed before it was released", n + 1);
    kit_settle(k);
}

static void try_room(struct kit *k)
{
    struct hal_switch *s = k->w.sw[0];
    for (unsigned vc = 0; vc < HX_VCS; vc++) {
        kit_expect(k, hx_lane(hal_tx_credits(s, HX_E), vc) <= HX_MAX_ROOM, "lane %u is more than HX_MAX_ROOM", vc);
        if (!kit_expect(k, kit_send(k, SHORT, vc) && kit_waiting(k, 0, HX_LOCAL, 0) == 1, "no packet can be sent"))
            return;
        const struct hx_desc *d = kit_arrival(k, 0, HX_LOCAL, 0, 0);
        unsigned cost = hal_packet_credits(d);
        uint64_t before = hal_tx_credits(s, HX_E);
        hal_transmit(s, HX_E, vc, HX_LOCAL, 0, d);
        uint64_t after = hal_tx_credits(s, HX_E);
        bool busy = hal_output_is_busy(s, HX_E);
        int fell = hx_lane(before, vc) - hx_lane(after, vc);
        kit_expect(k, busy || fell == (int)cost,
                   "after hal_transmit of a packet of cost %u on VC %u room fell by %d, not %u", cost, vc, fell, cost);
        for (unsigned other = 0; HAL_VCS_APART && other < HX_VCS; other++)
            kit_expect(k, other == vc || hx_lane(before, other) == hx_lane(after, other),
                       "after hal_transmit on VC %u room on VC %u is %u, and was %u", vc, other, hx_lane(after, other),
                       hx_lane(before, other));
        kit_end_step(s, HX_LOCAL, 0, 1);
        kit_advance(k);
        fell = hx_lane(before, vc) - hx_lane(hal_tx_credits(s, HX_E), vc);
        kit_expect(k, fell == (int)cost, "while the far end holds a packet of cost %u on VC %u room is %d less, not %u",
                   cost, vc, fell, cost);
    }
    kit_settle(k);
}

/* Sends on VC 0 until the output is busy. VC 1, which nothing uses, shows whether packets or time close it. */
static void try_busy(struct kit *k)
{
    struct hal_switch *s = k->w.sw[0];
    unsigned spent = 0;
    kit_expect(k, !hal_output_is_busy(s, HX_E) && !hal_output_is_busy(s, HX_LOCAL), "is true for an idle output");
    while (kit_inject(k, KIT_FULL, 1))
        ;
    hal_endpoint_commit(k->w.endpoint[0]);
    kit_advance(k);
    unsigned sent = 0;
    for (bool busy = false; !busy && sent < kit_waiting(k, 0, HX_LOCAL, 0); sent++) {
        const struct hx_desc *d = kit_arrival(k, 0, HX_LOCAL, 0, sent);
        unsigned cost = hal_packet_credits(d);
        if (hx_lane(hal_tx_credits(s, HX_E), 0) < cost)
            break;
        hal_transmit(s, HX_E, 0, HX_LOCAL, 0, d);
        spent += cost;
        busy = hal_output_is_busy(s, HX_E);
        unsigned room = hx_lane(hal_tx_credits(s, HX_E), 1);
        bool has_credit = HAL_VCS_APART || spent < hx_lane(k->room_at_first, 1);
        kit_expect(k, !busy || room == 0, "is true after %u packets on VC 0, and room on VC 1 is %u", sent + 1, room);
        kit_expect(k, busy || room > 0 || !has_credit,
                   "is false after %u packets on VC 0, though VC 1 has credit that it does not show", sent + 1);
    }
    kit_end_step(s, HX_LOCAL, 0, sent);
    kit_advance(k);
    kit_expect(k, !hal_output_is_busy(s, HX_E), "is true for an output that has sent everything");
    kit_settle(k);
}

/* Each cause has its own count. */
static void try_stall(struct kit *k)
{
    if (!kit_expect(k, kit_send(k, SHORT, 1) && kit_waiting(k, 0, HX_LOCAL, 0) == 1, "no packet can be sent"))
        return;
    const struct hx_desc *d = kit_arrival(k, 0, HX_LOCAL, 0, 0);
    uint64_t ought[HX_STALL_COUNT] = {0};
    for (unsigned cause = 0; cause < HX_STALL_COUNT; cause++) {
        hal_stall(k->w.sw[0], d, (enum hx_stall)cause);
        ought[cause]++;
        for (unsigned i = 0; i < HX_STALL_COUNT; i++) {
            uint64_t counted = conformance_stalls(&k->w, (enum hx_stall)i);
            kit_expect(k, counted == ought[i], "of cause %u it counts %llu packets, not %llu", i,
                       (unsigned long long)counted, (unsigned long long)ought[i]);
        }
    }
    kit_settle(k);
}

static void try_room_without_link(struct kit *k)
{
    uint64_t north = hal_tx_credits(k->w.sw[0], HX_N);
    kit_expect(k, north == 0, "output N has no cable and room of 0x%llx", (unsigned long long)north);
}

/* Packets of whole blocks, and of a byte more or less. */
static void try_cost(struct kit *k)
{
    enum { EDGES = 3 * HX_PACKET_BLOCKS + 1 };
    unsigned before = 1;
    for (unsigned at = 1; at <= EDGES; at++) {
        unsigned length = at / 3 * HX_BLOCK + at % 3 - 1;
        if (!kit_send(k, length, at) || kit_waiting(k, 0, HX_LOCAL, 0) != 1)
            return; /* credit does not return: hal_release() or hal_drop() is to blame */
        unsigned is = hal_packet_credits(kit_arrival(k, 0, HX_LOCAL, 0, 0));
        kit_drop_all(k, 0, HX_LOCAL, 0);
        kit_advance(k);
        if (!kit_expect(k, is >= 1, "a packet of %u bytes costs nothing", length) ||
            !kit_expect(k, is >= before, "a packet of %u bytes costs %u, a shorter one %u", length, is, before))
            return;
        before = is;
    }
    uint64_t there = hal_tx_credits(k->w.sw[0], HX_E);
    for (unsigned vc = 0; vc < HX_VCS; vc++)
        kit_expect(k, hx_lane(there, vc) >= before,
                   "an idle link has room of %u on VC %u: a full packet, of cost %u, can never go", hx_lane(there, vc),
                   vc, before);
}

static void try_transmit(struct kit *k)
{
    struct hal_switch *s = k->w.sw[0];
    if (!kit_expect(k, kit_send(k, SHORT, 5) && kit_waiting(k, 0, HX_LOCAL, 0) == 1, "no packet can be sent"))
        return;
    const struct hx_desc *d = kit_arrival(k, 0, HX_LOCAL, 0, 0);
    const unsigned hops = d->hops;
    hal_transmit(s, HX_E, 2, HX_LOCAL, 0, d);
    kit_end_step(s, HX_LOCAL, 0, 1);
    kit_advance(k);
    if (!kit_expect(k, kit_waiting(k, 1, HX_W, 2) == 1, "a packet sent on VC 2 does not arrive on VC 2"))
        return;
    const struct hx_desc *is = kit_arrival(k, 1, HX_W, 2, 0);
    kit_expect(k, is->vc == 2 && is->hops == hops + 1, "sent on VC 2 after %u hops, it arrives as on VC %u after %u",
               hops, is->vc, is->hops);
    kit_expect(k, is->length == SHORT && is->dst_addr_hi == 1 && is->dst_addr_lo == 0 && is->job == KIT_JOB,
               "it arrives with another length, destination or job (%u bytes for %u,%u of job %u)", is->length,
               is->dst_addr_hi, is->dst_addr_lo, is->job);
    kit_settle(k);
}

/* One step sends all that has credit. No device may discard what its own queue has no room for. */
static void try_burst(struct kit *k)
{
    unsigned injected = 0;
    while (injected < HX_WINDOW && kit_send(k, SHORT, injected))
        injected++;
    const unsigned sent = kit_forward(k, 0, HX_LOCAL, 0, HX_E, 1, injected);
    kit_advance(k);
    const unsigned came = kit_waiting(k, 1, HX_W, 1);
    kit_expect(k, came == sent, "of %u packets that had credit in one step %u arrive", sent, came);
    for (unsigned n = 0; n < came; n++) {
        const struct hx_desc *d = kit_arrival(k, 1, HX_W, 1, n);
        kit_expect(k, d->length == SHORT, "packet %u of a step arrives with %u bytes, not %u", n + 1, d->length, SHORT);
    }
    kit_settle(k);
}

static void try_commit(struct kit *k)
{
    struct hal_switch *s = k->w.sw[0];
    if (!kit_expect(k, kit_send(k, SHORT, 1) && kit_waiting(k, 0, HX_LOCAL, 0) == 1, "no packet can be sent"))
        return;
    const uint64_t none[HX_VCS] = {0};
    hal_transmit(s, HX_E, 0, HX_LOCAL, 0, kit_arrival(k, 0, HX_LOCAL, 0, 0));
    uint64_t tail = hx_lane_add(hal_consumed(s, HX_LOCAL), 0, 1);
    hal_release(s, HX_LOCAL, tail, tail, none);
    conformance_advance(&k->w, CONFORMANCE_SWITCH_0, false);
    kit_expect(k, kit_waiting(k, 1, HX_W, 0) == 0, "a packet is visible at the other end before the commit");
    hal_commit(s);
    conformance_advance(&k->w, CONFORMANCE_SWITCH_0, true); /* the commit must suffice */
    kit_expect(k, kit_waiting(k, 1, HX_W, 0) == 1, "a packet has not arrived after the commit");
    kit_settle(k);
}

/* Credit that came back twice shows in use: more packets arrive than the buffer holds. */
static void send_until_full(struct kit *k)
{
    unsigned taken = 0;
    for (unsigned n = 0; n < HX_WINDOW && kit_bring(k, 0, SHORT, n); n++) {
        const struct hx_desc *d = kit_arrival(k, 1, HX_W, 0, n);
        taken += hal_packet_credits(d);
    }
    kit_expect(
        k, taken <= hx_lane(k->room_at_first, 0),
        "afterwards packets of %u credit units could be sent, none of which left, and at first there was room for %u",
        taken, hx_lane(k->room_at_first, 0));
}

/* Four packets: the first leaves, the second waits, the others leave. The waiting one must not change. Only credit is
 * checked here; hal_drop's check, which needs credit, comes later and checks buffers. */
static void try_release(struct kit *k)
{
    enum { PACKETS = 4, HELD = 1 };
    struct hal_switch *s = k->w.sw[1];
    uint16_t room_before = hx_lane(hal_tx_credits(k->w.sw[0], HX_E), 0);
    for (unsigned n = 0; n < PACKETS; n++)
        if (!kit_expect(k, kit_bring(k, 0, SHORT, n), "no packet can be sent"))
            return;
    if (!kit_expect(k, kit_waiting(k, 1, HX_W, 0) == PACKETS, "not all of %u packets arrive", PACKETS))
        return;
    uint64_t base = hal_consumed(s, HX_W);
    struct hx_desc held = *kit_arrival(k, 1, HX_W, 0, HELD);
    for (unsigned n = 0; n < PACKETS; n++)
        if (n != HELD)
            kit_drop(k, 1, HX_W, 0, n);
    uint16_t held_at = (uint16_t)(hx_lane(base, 0) + HELD);
    const uint64_t waiting[HX_VCS] = {(uint64_t)1 << held_at % 64};
    uint64_t seen = hx_lane_add(base, 0, PACKETS);
    hal_release(s, HX_W, hx_lane_add(base, 0, HELD), seen, waiting);
    hal_commit(s);
    kit_advance(k);
    const struct hx_desc *is = hal_arrival(s, HX_W, 0, held_at);
    kit_expect(k, is->buffer == held.buffer && is->length == held.length,
               "the descriptor of a position that waits changed when others left");
    kit_expect(k, hx_lane(hal_tx_credits(k->w.sw[0], HX_E), 0) < room_before,
               "room came back for a packet that waits, too");
    hal_drop(s, HX_W, 0, is, HX_DROP_NO_ROUTE);
    const uint64_t none[HX_VCS] = {0};
    hal_release(s, HX_W, seen, seen, none);
    hal_commit(s);
    kit_advance(k);
    uint16_t room_after = hx_lane(hal_tx_credits(k->w.sw[0], HX_E), 0);
    kit_expect(k, room_after == room_before,
               "room is %u after four packets have left, the second last, and was %u before", room_after, room_before);
    send_until_full(k);
    kit_settle_room(k);
}

/* More packets in all than there are buffers. */
static void try_drop(struct kit *k)
{
    enum { PACKETS = 40 };
    uint64_t counted = conformance_drops(&k->w, HX_DROP_NO_ROUTE);
    for (unsigned n = 0; n < PACKETS; n++) {
        if (!kit_expect(k, kit_bring(k, 0, SHORT, n), "packet %u cannot be sent after %u were dropped", n + 1, n))
            return;
        kit_drop_all(k, 1, HX_W, 0);
    }
    counted = conformance_drops(&k->w, HX_DROP_NO_ROUTE) - counted;
    kit_expect(k, counted == PACKETS, "%llu of %u drops are counted under their reason", (unsigned long long)counted,
               PACKETS);
    kit_settle(k);
}

/* Fills one VC; the others must not change. */
static void try_vcs_apart(struct kit *k)
{
    struct hal_switch *s = k->w.sw[0];
    if (!HAL_VCS_APART)
        return;
    unsigned sent = 0;
    while (sent < 4 * HX_WINDOW && kit_bring(k, 0, KIT_FULL, sent))
        sent++;
    kit_expect(k, sent > 0, "no full packet can be sent");
    kit_expect(k, hx_lane(hal_tx_credits(s, HX_E), 1) == hx_lane(k->room_at_first, 1),
               "with VC 0 full room on VC 1 is %u, and was %u at first", hx_lane(hal_tx_credits(s, HX_E), 1),
               hx_lane(k->room_at_first, 1));
    kit_settle(k);
}

const struct kit_check kit_switch_checks[] = {
    {"hal_consumed", "lanes: positions released so far, where windows begin.", try_consumed},
    {"hal_release", "those in `waiting` (bit position % 64) are held and all others have left", try_release},
    {"hal_drop", "frees the buffer and counts the reason.", try_drop},
    {"hal_arrived", "Lanes: 16 bits a VC in one 64-bit word, VC 0 lowest; unused VCs are zero.", try_lanes},
    {"hal_arrived", "positions that have arrived, at most HX_WINDOW ahead of the released ones.", try_window},
    {"hal_arrival", "descriptor at a position that has arrived, the same until its release.", try_arrival},
    {"hal_rx_pending", "inputs that may have new packets, bit by input", try_news},
    {"hal_tx_ready", "outputs that may have credit, bit by output", try_open_outputs},
    {"hal_tx_credits", "credit less what this step has transmitted, each at most HX_MAX_ROOM", try_room},
    {"hal_tx_credits", "0 for an output without a link", try_room_without_link},
    {"hal_output_is_busy", "true: the output transmits another packet, whatever its credit.", try_busy},
    {"hal_stall", "counts a packet that begins to wait, and its cause.", try_stall},
    {"hal_packet_credits", "credit units of the packet, at least 1", try_cost},
    {"HAL_VCS_APART", "the VCs of an output share no credit", try_vcs_apart},
    {"hal_transmit", "on the link's VC `output_vc`, which has credit: hx_desc_onward().", try_transmit},
    {"hal_transmit", "on the link's VC `output_vc`, which has credit", try_burst},
    {"hal_commit",
     "Other nodes see nothing of a step of a switch or endpoint before hal_commit / hal_endpoint_commit; then they see "
     "all of it.",
     try_commit},
    {0}};
