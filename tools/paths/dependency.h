/* dependency.h - the channel dependency graph of a plane (Dally and Seitz): whether a packet that holds channel c may
 * wait for channel d. Without a cycle there is no deadlock.
 *
 * A channel is a directed link on one VC. All successors of a channel leave the node at its far end. So they are a bit
 * mask over that node's ports; the VC behind each port follows from the route. */
#ifndef HXMESH_TOOLS_DEPENDENCY_H
#define HXMESH_TOOLS_DEPENDENCY_H

#include "tools/paths/plane.h"

enum { HX_CHANNEL_VCS = HX_VCS + 1 }; /* one more than the fabric has, to detect routes that exceed it */

struct hx_channels {
    const struct hx_fabric *g;
    struct hx_plane *plane;
    uint32_t *first_link; /* per node: number of its port 0 as an outgoing link; nodes + 1 entries */
    struct hx_end *far;   /* per link */
    uint64_t *successors; /* per channel: output ports that it depends on at its far node; valid if used */
    bool *used;           /* per channel: a packet may hold it */
    uint32_t count;       /* number of channels */
};

/* Any job of the plane will do: VCs are the same for all. */
void hx_channels_init(struct hx_channels *c, struct hx_plane *p);
void hx_channels_free(struct hx_channels *c);

/* The channel that a packet enters by `port` after it came to `node` by (input, vc). */
uint32_t hx_channel_behind(const struct hx_channels *c, uint32_t node, unsigned input, unsigned vc, unsigned port);
struct hx_channel {
    uint32_t node;
    unsigned port, vc;
};
struct hx_channel hx_channel_of(const struct hx_channels *c, uint32_t channel);
static inline struct hx_end hx_channel_far(const struct hx_channels *c, uint32_t channel)
{
    return c->far[channel / HX_CHANNEL_VCS];
}

/* Finds a cycle of used channels. Returns its length and sets *cycle (free it): each channel waits for the next, the
 * last for the first. 0: none. */
uint32_t hx_channels_cycle(const struct hx_channels *c, uint32_t **cycle);

#endif
