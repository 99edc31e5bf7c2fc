/* check_detour.c - the contract of the functions that routers with detours call (include/hxmesh/hal.h). */
#include "hxmesh/lanes.h"
#include "kit.h"

enum { SHORT = 600 /* bytes: three blocks */, VIA = 1 /* an addr_hi of the fabric */ };

/* Two packets, on two VCs: they count from transmission until the far end has released them. Skipped where an earlier
 * check found lost credit. */
static void try_queued(struct kit *k)
{
    struct hal_switch *s = k->w.sw[0];
    if (kit_shared->unsettled)
        return;
    unsigned queued = hal_output_occupancy(s, HX_E);
    kit_expect(k, queued == 0, "is %u for a link that carried nothing", queued);
    unsigned cost = 0;
    for (unsigned vc = 0; vc < 2; vc++) {
        if (!kit_expect(k, kit_bring(k, vc, SHORT, vc), "no packet can be sent"))
            return;
        cost += hal_packet_credits(kit_arrival(k, 1, HX_W, vc, 0));
        queued = hal_output_occupancy(s, HX_E);
        kit_expect(k, queued == cost, "is %u though the far end holds %u, on VC 0 to %u", queued, cost, vc);
    }
    for (unsigned vc = 0; vc < 2; vc++)
        kit_drop_all(k, 1, HX_W, vc);
    kit_advance(k);
    queued = hal_output_occupancy(s, HX_E);
    kit_expect(k, queued == 0, "is %u though the far end has released everything", queued);
    kit_settle(k);
}

static void try_buffer(struct kit *k)
{
    unsigned buffer = hal_vc_buffer(k->w.sw[0]);
    for (unsigned vc = 0; vc < HX_VCS; vc++) {
        unsigned room = hx_lane(k->room_at_first, vc);
        kit_expect(k, room == buffer || (room == HX_MAX_ROOM && buffer > room),
                   "it is %u, and room on VC %u of an idle link is %u", buffer, vc, room);
    }
}

static bool is_at(const struct hx_desc *d, unsigned addr_hi, unsigned addr_lo)
{
    return d->dst_addr_hi == addr_hi && d->dst_addr_lo == addr_lo;
}

/* Redirects a packet that waits at switch 0, from VC 0 of its endpoint. */
static bool redirect_one(struct kit *k)
{
    if (!kit_expect(k, kit_send(k, SHORT, 1) && kit_waiting(k, 0, HX_LOCAL, 0) == 1, "no packet can be sent"))
        return false;
    struct hal_switch *s = k->w.sw[0];
    uint16_t position = hx_lane(hal_consumed(s, HX_LOCAL), 0);
    hal_redirect(s, HX_LOCAL, 0, position, VIA, HX_NO_ADDRESS);
    return true;
}

static void try_destination(struct kit *k)
{
    if (!redirect_one(k))
        return;
    uint16_t addr_hi = UINT16_MAX;
    uint16_t addr_lo = UINT16_MAX;
    bool has = hal_destination(k->w.sw[0], kit_arrival(k, 0, HX_LOCAL, 0, 0), &addr_hi, &addr_lo);
    kit_expect(k, has && addr_hi == 1 && addr_lo == 0, "for a packet to 1,0 on a detour it is %s%u,%u",
               has ? "" : "false, and ", addr_hi, addr_lo);
    kit_settle(k);
}

/* Redirects the second of two packets only. */
static void try_redirect(struct kit *k)
{
    struct hal_switch *s = k->w.sw[1];
    for (unsigned n = 0; n < 2; n++)
        if (!kit_expect(k, kit_bring(k, 2, SHORT, n) && kit_waiting(k, 1, HX_W, 2) == n + 1, "no packet can be sent"))
            return;
    const struct hx_desc *first = kit_arrival(k, 1, HX_W, 2, 0);
    const struct hx_desc *second = kit_arrival(k, 1, HX_W, 2, 1);
    uint16_t position = (uint16_t)(hx_lane(hal_consumed(s, HX_W), 2) + 1);
    hal_redirect(s, HX_W, 2, position, VIA, HX_NO_ADDRESS);
    kit_expect(k, is_at(second, VIA, HX_NO_ADDRESS),
               "afterwards the descriptor of hal_arrival has address %u,%u, not %u,%u", second->dst_addr_hi,
               second->dst_addr_lo, VIA, HX_NO_ADDRESS);
    kit_expect(k, is_at(kit_arrival(k, 1, HX_W, 2, 1), VIA, HX_NO_ADDRESS),
               "afterwards hal_arrival returns the old address");
    kit_expect(k, is_at(first, 1, 0), "the address of the packet before changed too, to %u,%u", first->dst_addr_hi,
               first->dst_addr_lo);
    kit_settle(k);
}

/* On the wire, a frame has both the next address and the destination. */
static void try_on_the_wire(struct kit *k)
{
    if (!redirect_one(k))
        return;
    if (!kit_expect(k, kit_forward(k, 0, HX_LOCAL, 0, HX_E, 0, 1) == 1, "a packet on a detour cannot be sent"))
        return;
    kit_advance(k);
    if (!kit_expect(k, kit_waiting(k, 1, HX_W, 0) == 1, "a packet on a detour does not arrive"))
        return;
    const struct hx_desc *d = kit_arrival(k, 1, HX_W, 0, 0);
    kit_expect(k, is_at(d, VIA, HX_NO_ADDRESS), "behind the link its address is %u,%u, not %u,%u", d->dst_addr_hi,
               d->dst_addr_lo, VIA, HX_NO_ADDRESS);
    uint16_t addr_hi = UINT16_MAX;
    uint16_t addr_lo = UINT16_MAX;
    bool has = hal_destination(k->w.sw[1], d, &addr_hi, &addr_lo);
    kit_expect(k, has && addr_hi == 1 && addr_lo == 0, "behind the link its destination is %u,%u, not 1,0", addr_hi,
               addr_lo);
    kit_settle(k);
}

const struct kit_check kit_detour_checks[] = {
    {"hal_output_occupancy",
     "credit units sent by the output, on all VCs, that the far end still holds, as far as is known here.", try_queued},
    {"hal_vc_buffer", "credit units of a VC's buffer at the far end.", try_buffer},
    {"hal_destination", "destination of the packet's frame (hx_frame_destination).", try_destination},
    {"hal_redirect", "sets the next address of an arrived packet, also in what hal_arrival() returned for it.",
     try_redirect},
    {"hal_redirect", "sets the next address of an arrived packet", try_on_the_wire},
    {0}};
