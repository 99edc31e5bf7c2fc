/* updown.h - shortest ways in any graph of routers, or in what is left of it, free of deadlock.
 *
 * The routers are put into an order. A link is up where it leads to one that stands earlier, else down. A packet that
 * goes up after it went down has its VC raised by one. So on each VC every way goes up first and then down, and no
 * circle of waiting closes. The order is searched that needs the fewest VCs for all shortest ways. If the best needs
 * more than there are, ways are left out, for each destination, until those that are left need no more; some shortest
 * way must remain for every pair.
 *
 * Whoever has ways of a fabric gives them to a copy of it, `.updown`: all tables that are built from it go by them. */
#ifndef HXMESH_TOPOLOGY_UPDOWN_H
#define HXMESH_TOPOLOGY_UPDOWN_H

#include "topology/fabric.h"

/* Routers are counted from 0 here. */
struct hx_updown {
    uint32_t routers, digits;
    unsigned vcs;       /* 0: those that may be used do not suffice, and no way is left out */
    uint32_t *rank;     /* [routers]: place in the order */
    uint64_t *ports;    /* [digits][routers]: ways to the router of that d0 */
    uint16_t *distance; /* [digits][routers]: links to it; HX_UNREACHABLE_DISTANCE: nothing leads there */
};

enum { HX_UNREACHABLE_DISTANCE = UINT16_MAX };

/* Of a fabric whose ports and addresses are known, on at most so many VCs; where nothing joins two routers there is no
 * way. down: [nodes] ports whose links do not work, either end or both; NULL: all links work.
 *
 * rank: [routers] the order, NULL: it is searched. In an order that stays as it was while links fail and return, ways
 * of before and of after may be mixed, switch by switch and packet by packet: on each VC all of them go up and then
 * down, by the same order, so no circle of waiting closes. A packet that would turn more often than there are VCs has
 * no way on. Ways that are too long for the VCs are then left out, and pairs that have no others too. One piece of
 * memory, for free(). NULL, and *problem says why: routers are too many, or d0 is not a router's own, as on a grid
 * whose digits are parts of its sides. */
struct hx_updown *hx_updown_search(const struct hx_fabric *f, const uint64_t *down, unsigned most_vcs,
                                   const uint32_t *rank, struct hx_problem *problem);

/* What the ways of a fabric take, bytes. */
size_t hx_updown_bytes(const struct hx_fabric *f);

/* Whether the ways of a fabric can be searched again while packets are on it: it has an order, and each turn raises the
 * VC. */
bool hx_updown_may_change(const struct hx_fabric *f);
/* Makes *round the fabric f, but with ways round what is down, in the order and on the VCs of f, which may change: so
 * they may be mixed with those of f and of any other such round. The ways that *round had are freed; at first it is
 * zeroed, and its ways are for free() at last. All else is f's. Returns false and leaves *round as it is where ways
 * cannot be searched (hx_updown_search). */
bool hx_updown_reroute(struct hx_fabric *rerouted, const struct hx_fabric *f, const uint64_t *down);

/* Routers whose links, on a single VC, wait for one another in a circle, the first `most` of them. Returns the length
 * of the circle; 0: there is none. */
unsigned hx_updown_cycle(const struct hx_fabric *f, const struct hx_updown *w, uint32_t *routers, unsigned most);

/* Whether the link between two routers leads up. */
static inline bool hx_updown_up(const struct hx_updown *w, uint32_t from, uint32_t to)
{
    return w->rank[to] < w->rank[from];
}

#endif
