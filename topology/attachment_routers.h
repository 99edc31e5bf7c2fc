/* attachment_routers.h - where the hosts of a fabric sit. Those of one router are alike: it is enough to go by seats, with their
 * hosts as weight. */
#ifndef HXMESH_TOPOLOGY_ATTACHMENT_ROUTERS_H
#define HXMESH_TOPOLOGY_ATTACHMENT_ROUTERS_H

#include "topology/topology.h"

/* The router that a host of one link hangs on; a host that forwards: itself. */
uint32_t hx_fabric_attachment_router(const struct hx_fabric *f, uint32_t host);

struct hx_attachment_routers {
    uint32_t count;
    uint32_t living;  /* hosts that sit anywhere */
    uint32_t *node;   /* [count]: hx_fabric_attachment_router() */
    uint32_t *host;   /* [count]: one that sits there */
    uint32_t *weight; /* [count]: how many do */
};

void hx_attachment_routers_take(struct hx_attachment_routers *s, const struct hx_fabric *f);
void hx_attachment_routers_free(struct hx_attachment_routers *s);

#endif
