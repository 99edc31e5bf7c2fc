/* even_loads.h - loads of links under all-to-all, where each node splits a packet's traffic evenly over its candidates.
 *
 * An accelerator of a HammingMesh that has candidates in X uses only these: all-to-all finishes X first, which loads
 * lines evenly (hxmesh/route.h). */
#ifndef HXMESH_TOOLS_EVEN_LOADS_H
#define HXMESH_TOOLS_EVEN_LOADS_H

#include "tools/paths/dependency.h"

struct hx_even_loads {
    const struct hx_fabric *g;
    double *link;    /* per link, as in hx_channels: load in injection bandwidths of a host */
    double *forward; /* [nodes]: what a router forwards to routers */
    double *through; /* per channel: still to be carried to the destination */
};

void hx_even_loads_init(struct hx_even_loads *l, const struct hx_channels *c);
void hx_even_loads_free(struct hx_even_loads *l);
void hx_even_loads_clear(struct hx_even_loads *l, const struct hx_channels *c);

/* A host sends `amount` to a destination, over these ports, on this VC. */
void hx_even_loads_send(struct hx_even_loads *l, const struct hx_channels *c, uint32_t host, unsigned vc,
                        uint64_t ports, double amount);

/* A channel that packets to the destination may hold, and the ports behind it; 0: it ends here. */
struct hx_passed_channel {
    uint32_t channel;
    uint64_t ports;
};
/* Carries what was sent to the destination. passed: each channel after those behind it. */
void hx_even_loads_carry(struct hx_even_loads *l, const struct hx_channels *c, const struct hx_passed_channel *passed,
                         uint32_t count);

/* Returns the share of injection bandwidth that all hosts can send at, each evenly to its destinations: at most 1. */
double hx_even_loads_share(const struct hx_even_loads *l, const struct hx_channels *c);

#endif
