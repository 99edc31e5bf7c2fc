/* updown.h - up/down routing: minimal paths without deadlock in any graph of routers, also with links down.
 *
 * The routers stand in an order. A link that leads to an earlier router is up, else it is down. A packet that goes up
 * after it went down moves to the next VC. So on each VC every path goes first up and then down, and no dependency
 * cycle closes. The search looks for the order that needs the fewest VCs for all minimal paths. If the best order needs
 * too many VCs, it drops paths, per destination, until the rest need no more. Every pair keeps a minimal path.
 *
 * A fabric uses the routes in its `updown`: all its tables are built from them. */
#ifndef HXMESH_TOPOLOGY_UPDOWN_H
#define HXMESH_TOPOLOGY_UPDOWN_H

#include "topology/fabric.h"

/* Routers count from 0 here. */
struct hx_updown {
    uint32_t routers, digits;
    unsigned vcs;       /* 0: the allowed VCs do not suffice, and all paths are kept */
    uint32_t *rank;     /* [routers]: position in the order */
    uint64_t *ports;    /* [digits][routers]: next hops to the router with that addr_hi */
    uint16_t *distance; /* [digits][routers]: links of its paths, or of dropped ones; HX_UNREACHABLE_DISTANCE: none */
};

enum { HX_UNREACHABLE_DISTANCE = UINT16_MAX };

/* Searches routes of a fabric with known ports and addresses, on at most most_vcs VCs. Routers that no link joins have
 * no path between them.
 *
 * down: [nodes] ports with failed links, marked at either end or both; NULL: all links work. rank: [routers] the order;
 * NULL: the search finds one. While links fail and return, old and new routes of one fixed order may mix, switch by
 * switch and packet by packet. On each VC they all go up and then down by the same order, so no dependency cycle
 * closes. A fixed order drops paths that need more VCs, even if a pair then has no path. A packet that would turn more
 * often than there are VCs has no next hop.
 *
 * Returns one piece of memory, for free(). Returns NULL and sets *problem if there are too many routers, or if routers
 * share an addr_hi, as on a grid that splits its sides over both digits. */
struct hx_updown *hx_updown_search(const struct hx_fabric *f, const uint64_t *down, unsigned most_vcs,
                                   const uint32_t *rank, struct hx_problem *problem);

/* Returns the memory of a fabric's routes, bytes. */
size_t hx_updown_bytes(const struct hx_fabric *f);

/* Whether routes may change while packets are in flight: the fabric has an order, and each turn moves to the next
 * VC. */
bool hx_updown_may_change(const struct hx_fabric *f);
/* Makes *rerouted a copy of f with routes around the failed links, in the order and on the VCs of f. Where all
 * minimal paths turn too often, a router gets a longer one, if there is one of few enough turns. These routes may mix
 * with those of f and of other reroutes. Frees the routes that *rerouted had; zero it before its first use, and free
 * its last routes with free(). Returns false and leaves *rerouted unchanged if no routes can be found. */
bool hx_updown_reroute(struct hx_fabric *rerouted, const struct hx_fabric *f, const uint64_t *down);

/* Adds the next hops of other routes in the same order to those of `into`, as if each router had either. */
void hx_updown_join(struct hx_updown *into, const struct hx_updown *other);

/* Planned states of the links, one after the other. */
struct hx_updown_states {
    size_t count;
    void (*take)(const void *of, size_t state, uint64_t *closed); /* sets bits of ports in closed[nodes], which is 0 */
    const void *of;
};
/* The first pair of hosts that has no path in some state. */
struct hx_updown_gap {
    size_t state;
    uint32_t from, to; /* nodes */
    bool joined;       /* there are links between them, but all paths turn too often for the VCs */
};
/* Gives f, which has searched routes, HX_VCS VCs and an order of routers in which every pair of hosts keeps a path in
 * each state. Tries the order of f first, then those of each state alone (of some, if there are many), and random ones.
 * Returns false, leaves f, and sets *gap of the first order tried, if there is none. */
bool hx_updown_plan(struct hx_fabric *f, const struct hx_updown_states *states, struct hx_updown_gap *gap);

/* Finds a cycle of the channel dependency graph on a single VC and writes the first `most` of its routers. Returns the
 * length of the cycle; 0: there is none. */
unsigned hx_updown_cycle(const struct hx_fabric *f, const struct hx_updown *w, uint32_t *routers, unsigned most);

/* Whether the link between two routers leads up. */
static inline bool hx_updown_up(const struct hx_updown *w, uint32_t from, uint32_t to)
{
    return w->rank[to] < w->rank[from];
}

#endif
