/* dependency.h - the channel dependency graph of a plane (Dally and Seitz): may a packet that holds channel c wait for
 * channel d? If no such chain closes, no set of packets can wait for each other for ever.
 *
 * A channel is a directed link on one VC. What follows a channel leaves the node the link leads to, so the successors
 * of a channel are a bit mask over the ports of that node; the VC behind such a port follows from the route. */
#ifndef HXMESH_TOOLS_DEPENDENCY_H
#define HXMESH_TOOLS_DEPENDENCY_H

#include "tools/paths/plane.h"

enum { HX_CHANNEL_VCS = HX_VCS + 1 }; /* one more than there are, so that a route that climbs too far is seen */

struct hx_channels {
    const struct hx_fabric *g;
    struct hx_plane *plane;
    uint32_t *first_link; /* per node: number of its port 0 as an outgoing link; nodes + 1 entries */
    struct hx_end *far;   /* per link */
    uint64_t *successors; /* per channel: ports it depends on at its far node; meaningful where used */
    bool *used;           /* per channel: some packet may hold it */
    uint32_t count;       /* channels there are */
};

/* The job of the plane does not matter: VCs are the same for all. */
void hx_channels_init(struct hx_channels *c, struct hx_plane *p);
void hx_channels_free(struct hx_channels *c);

/* The channel that a packet which came to `node` by (input, vc) enters when it leaves by `port`. */
uint32_t hx_channel_behind(const struct hx_channels *c, uint32_t node, unsigned input, unsigned vc, unsigned port);
/* Sender, port and VC of a channel. */
struct hx_channel {
    uint32_t node;
    unsigned port, vc;
};
struct hx_channel hx_channel_of(const struct hx_channels *c, uint32_t channel);
static inline struct hx_end hx_channel_far(const struct hx_channels *c, uint32_t channel)
{
    return c->far[channel / HX_CHANNEL_VCS];
}

/* Finds a cycle of used channels: returns its length and sets *cycle (to be freed; each channel waits for the next,
 * the last for the first). 0: there is none. */
uint32_t hx_channels_cycle(const struct hx_channels *c, uint32_t **cycle);

#endif
