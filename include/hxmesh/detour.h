/* detour.h - detours: Valiant and UGAL routing, chosen once a packet, at the first router.
 *
 * Sources: Valiant, "A scheme for fast parallel communication", 1982; Singh, "Load-balanced routing in interconnection
 * networks", 2005 (UGAL-L); Kathareios et al., "Cost-Effective Diameter-Two Topologies", SC15 (thresholds, weighed
 * costs).
 *
 *     host -> first router -> ... -> a router of the intermediate's area -> ... -> last router -> host
 *             chooses                here the packet turns to its destination
 *
 * A packet that comes to a router from one of its hosts either goes straight, or on a detour to an intermediate router.
 * In its descriptor stands where it goes now (hx_desc.dst_addr_hi, dst_addr_lo): its destination, or (d0, HX_NO_DIGIT), the
 * router whose hosts have that d0. Tables lead to that as to any address. Its destination stands in its frame all the
 * while. A packet chooses once, makes one detour at most, and nobody else has to know of it: its VC follows from the
 * inputs and outputs it takes, as ever (route.h).
 *
 * Areas are d0s in a row, of a size that is the fabric's: a router of its own for most, the group of a Dragonfly. The
 * intermediate is of any area but that of the source and that of the destination, all routers alike.
 *
 *     VALIANT   always a detour, to a router that is drawn
 *     UGAL      `candidates` routers are drawn. Each way costs how much stands in the queue of the best of its first outputs,
 *               a detour `cost` times that, and where `distance` is given as often as it is longer. The cheapest
 *               wins; of equal ones the straight one, then the one that was drawn first. Below `threshold` on the straight
 *               way nothing is drawn.
 *
 * What stands in the queue of an output is what it has sent that has not left the far end yet, and what waits here
 * for it. A candidate to which no way leads is passed over, so that where there is none a packet goes straight. */
#ifndef HXMESH_DETOUR_H
#define HXMESH_DETOUR_H

#include "hxmesh/switch.h"

#include "hxmesh/begin.h"

enum hx_policy { HX_MINIMAL, HX_VALIANT, HX_UGAL };

enum { HX_DETOUR_ONE = 1000 /* of cost and threshold: one */, HX_MOST_CANDIDATES = 64 };

/* What a router knows to choose by. Made by whoever knows the fabric, and read only. */
struct hx_detour {
    const uint8_t *distance; /* UGAL: [routers][routers] by d0, in links; NULL: all detours cost alike */
    uint16_t routers;        /* d0s that there are: 0 .. routers-1 */
    uint16_t own;            /* this router's */
    uint16_t area;           /* d0s of an area: n * area .. n * area + area - 1. Divides `routers` */
    uint8_t policy;          /* enum hx_policy */
    uint8_t candidates;      /* UGAL: 1 .. HX_MOST_CANDIDATES */
    uint16_t cost;           /* UGAL: thousandths */
    uint16_t threshold;      /* UGAL: of the buffer of a VC, in HX_DETOUR_ONE; 0: none */
};

/* The packet at that position has just come from a host: it goes straight on or on a detour, which is written into its
 * arrival and into `to`, where it goes. That is an address of the fabric. Only where sw->route.detour is set. */
void hx_detour_choose(struct hx_switch *sw, unsigned input, unsigned vc, uint16_t position, const struct hx_desc *d,
                      struct hx_heading *to);

/* The packet at that position is on a detour to `to`. Where that ends here, it turns to its destination, likewise.
 * false: it is no packet of this fabric, and is to be dropped. */
bool hx_detour_follow(struct hx_switch *sw, unsigned input, unsigned vc, uint16_t position, const struct hx_desc *d,
                      struct hx_heading *to);

#include "hxmesh/end.h"

#endif
