/* check_detour.c - what the contract says of the functions that routers with detours ask (include/hxmesh/hal.h). */
#include "hxmesh/lanes.h"
#include "kit.h"

enum { SHORT = 600 /* bytes: three blocks */, VIA = 1 /* a d0 that there is */ };

/* Two packets, on two VCs: they count from when they are sent until the far end has let them go. Where room is not what
 * it should be, another check has said so. */
static void try_queued(struct kit *k)
{
    struct hal_switch *s = k->w.sw[0];
    if (kit_shared->unsettled)
        return;
    unsigned queued = hal_output_occupancy(s, HX_E);
    kit_expect(k, queued == 0, "%u credit units stand in a link that carried nothing", queued);
    unsigned cost = 0;
    for (unsigned vc = 0; vc < 2; vc++) {
        if (!kit_expect(k, kit_bring(k, vc, SHORT, vc), "no packet can be sent"))
            return;
        cost += hal_packet_credits(kit_arrival(k, 1, HX_W, vc, 0));
        queued = hal_output_occupancy(s, HX_E);
        kit_expect(k, queued == cost, "%u credit units stand in a link whose far end holds %u, on VC 0 to %u", queued,
                   cost, vc);
    }
    for (unsigned vc = 0; vc < 2; vc++)
        kit_drop_all(k, 1, HX_W, vc);
    kit_advance(k);
    queued = hal_output_occupancy(s, HX_E);
    kit_expect(k, queued == 0, "%u credit units stand in a link whose far end holds none any more", queued);
    kit_settle(k);
}

static void try_buffer(struct kit *k)
{
    unsigned buffer = hal_buffer(k->w.sw[0]);
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

/* A packet at switch 0 that is sent on a detour, from `vc` 0 of its endpoint. */
static bool redirect_one(struct kit *k)
{
    if (!kit_expect(k, kit_send(k, SHORT, 1) && kit_waiting(k, 0, HX_LOCAL, 0) == 1, "no packet can be sent"))
        return false;
    struct hal_switch *s = k->w.sw[0];
    uint16_t position = hx_lane(hal_consumed(s, HX_LOCAL), 0);
    hal_redirect(s, HX_LOCAL, 0, position, VIA, HX_NO_DIGIT);
    return true;
}

static void try_destination(struct kit *k)
{
    if (!redirect_one(k))
        return;
    uint16_t addr_hi = UINT16_MAX;
    uint16_t addr_lo = UINT16_MAX;
    bool has = hal_destination(k->w.sw[0], kit_arrival(k, 0, HX_LOCAL, 0, 0), &addr_hi, &addr_lo);
    kit_expect(k, has && addr_hi == 1 && addr_lo == 0, "of a packet for 1,0 on a detour it says %s%u,%u",
               has ? "" : "no, and ", addr_hi, addr_lo);
    kit_settle(k);
}

/* The second of two is redirected; the first is not. */
static void try_redirect(struct kit *k)
{
    struct hal_switch *s = k->w.sw[1];
    for (unsigned n = 0; n < 2; n++)
        if (!kit_expect(k, kit_bring(k, 2, SHORT, n) && kit_waiting(k, 1, HX_W, 2) == n + 1, "no packet can be sent"))
            return;
    const struct hx_desc *first = kit_arrival(k, 1, HX_W, 2, 0);
    const struct hx_desc *second = kit_arrival(k, 1, HX_W, 2, 1);
    uint16_t position = (uint16_t)(hx_lane(hal_consumed(s, HX_W), 2) + 1);
    hal_redirect(s, HX_W, 2, position, VIA, HX_NO_DIGIT);
    kit_expect(k, is_at(second, VIA, HX_NO_DIGIT), "afterwards what hal_arrival gave says %u,%u, not %u,%u",
               second->dst_addr_hi, second->dst_addr_lo, VIA, HX_NO_DIGIT);
    kit_expect(k, is_at(kit_arrival(k, 1, HX_W, 2, 1), VIA, HX_NO_DIGIT), "hal_arrival does not say so afterwards");
    kit_expect(k, is_at(first, 1, 0), "the packet before goes to %u,%u now, too", first->dst_addr_hi,
               first->dst_addr_lo);
    kit_settle(k);
}

/* On the wire the frame says both where the packet goes now and its destination. */
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
    kit_expect(k, is_at(d, VIA, HX_NO_DIGIT), "behind the link it goes to %u,%u, not to %u,%u", d->dst_addr_hi,
               d->dst_addr_lo, VIA, HX_NO_DIGIT);
    uint16_t addr_hi = UINT16_MAX;
    uint16_t addr_lo = UINT16_MAX;
    bool has = hal_destination(k->w.sw[1], d, &addr_hi, &addr_lo);
    kit_expect(k, has && addr_hi == 1 && addr_lo == 0, "behind the link its destination is %u,%u, not 1,0", addr_hi,
               addr_lo);
    kit_settle(k);
}

const struct kit_check kit_detour_checks[] = {
    {"hal_output_occupancy",
     "credit units that went by the output, on whatever VC, and have not left the far end as far as is known here.",
     try_queued},
    {"hal_buffer", "credit units that a VC of a link has at its far end.", try_buffer},
    {"hal_destination", "the destination that a packet's frame says (hx_frame_destination).", try_destination},
    {"hal_redirect",
     "from now on the packet at a position that has arrived goes there; what hal_arrival() gave for it says so too.",
     try_redirect},
    {"hal_redirect", "from now on the packet at a position that has arrived goes there", try_on_the_wire},
    {0}};
