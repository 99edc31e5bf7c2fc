/* graph_ways.h - shortest ways in any graph of routers, free of deadlock.
 *
 * The routers are put into an order. A link is up where it leads to one that stands earlier, else down. A packet that goes up
 * after it went down has its VC raised by one. So on each VC every way goes up first and then down, and no circle of waiting
 * closes. The order is searched that needs the fewest VCs for all shortest ways. If the best needs more than there are, ways are
 * left out, for each destination, until those that are left need no more; some shortest way must remain for every pair. */
#ifndef HXMESH_HOST_GRAPH_WAYS_H
#define HXMESH_HOST_GRAPH_WAYS_H

#include "host/topology/fabric.h"

/* Routers are counted from 0 here. */
struct hx_graph_ways {
    uint32_t routers, digits;
    unsigned vcs;      /* 0: those that there are do not suffice, and no way is left out */
    uint32_t *rank;    /* [routers]: place in the order */
    uint64_t *ports;   /* [digits][routers]: ways to the router of that d0 */
    uint8_t *distance; /* [digits][routers]: links to it */
};

/* Links between two routers at most. */
enum { HX_GRAPH_MOST_DISTANCE = 250 };

/* Of a fabric whose ports and addresses are known. One piece of memory, for free(). NULL: two
 * routers are further apart than HX_GRAPH_MOST_DISTANCE. */
struct hx_graph_ways *hx_graph_ways_find(const struct hx_fabric *f);

/* Routers whose links, on a single VC, wait for one another in a circle, the first `most` of them. Returns the length of the
 * circle; 0: there is none. */
unsigned hx_graph_circle(const struct hx_fabric *f, const struct hx_graph_ways *w, uint32_t *routers, unsigned most);

/* Whether the link leads up. */
static inline bool hx_graph_up(const struct hx_graph_ways *w, uint32_t from, uint32_t to)
{
    return w->rank[to] < w->rank[from];
}

#endif
