/* detour.h - Valiant and UGAL routing: the first router chooses once for each packet.
 *
 * Sources: Valiant, "A scheme for fast parallel communication", 1982; Singh, "Load-balanced routing in interconnection
 * networks", 2005 (UGAL-L); Kathareios et al., "Cost-Effective Diameter-Two Topologies", SC15 (thresholds, weighted
 * costs).
 *
 *     host -> first router -> ... -> a router of the intermediate's area -> ... -> last router -> host
 *             chooses                here the packet turns to its destination
 *
 * The descriptor's address (hx_desc.dst_addr_hi, dst_addr_lo) is where the packet goes next: its destination, or
 * (addr_hi, HX_NO_ADDRESS), the router of the hosts with that addr_hi. Routing tables have an entry for either. The
 * frame always names the destination. A packet makes at most one detour. Its VC follows from inputs and outputs
 * (route.h).
 *
 * An area is a range of addr_hi of the fabric's area size: one router in most fabrics, a group in a Dragonfly. The
 * intermediate is drawn uniformly from all routers outside the areas of source and destination.
 *
 *     VALIANT   always a detour
 *     UGAL      draws `candidates` routers. A path costs the occupancy of the best of its first outputs; a detour costs
 *               `cost` times that, and with `distance` also in proportion to its length. The cheapest path wins; ties
 *               go to the minimal path, then to the first draw. Draws none if the occupancy of the minimal path is
 *               below `threshold`.
 *
 * Occupancy of an output counts the credit units that the far end still holds, and those that wait here for it.
 * Unreachable candidates are skipped; without a candidate the packet takes the minimal path. */
#ifndef HXMESH_DETOUR_H
#define HXMESH_DETOUR_H

#include "hxmesh/switch.h"

#include "hxmesh/begin.h"

enum hx_policy { HX_MINIMAL, HX_VALIANT, HX_UGAL };

enum { HX_DETOUR_ONE = 1000 /* 1.0 of cost and threshold */, HX_MOST_CANDIDATES = 64 };

/* Parameters of a router's choice. Read-only; the caller owns it. */
struct hx_detour {
    const uint8_t *distance; /* UGAL: [routers][routers] by addr_hi, links; NULL: all detours have equal cost */
    uint16_t routers;        /* number of addr_hi: 0 .. routers-1 */
    uint16_t own;            /* addr_hi of this router */
    uint16_t area;           /* size: n * area .. n * area + area - 1; divides `routers` */
    uint8_t policy;          /* enum hx_policy */
    uint8_t candidates;      /* UGAL: 1 .. HX_MOST_CANDIDATES */
    uint16_t cost;           /* UGAL: units of 1 / HX_DETOUR_ONE */
    uint16_t threshold;      /* UGAL: share of a VC's buffer, units of 1 / HX_DETOUR_ONE; 0: none */
};

/* Chooses the path of the packet at `position`, which came from a host. Writes the next address into its arrival and
 * into `to`, which is an address of the fabric. Requires sw->route.detour. */
void hx_detour_choose(struct hx_switch *sw, unsigned input, unsigned vc, uint16_t position, const struct hx_desc *d,
                      struct hx_heading *to);

/* Ends the detour of the packet at `position` if this router is in the intermediate's area: writes the destination into
 * its arrival and into `to`. Returns false if the packet is not of this fabric and must be dropped. */
bool hx_detour_follow(struct hx_switch *sw, unsigned input, unsigned vc, uint16_t position, const struct hx_desc *d,
                      struct hx_heading *to);

#include "hxmesh/end.h"

#endif
