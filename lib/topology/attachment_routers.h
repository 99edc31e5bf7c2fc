/* attachment_routers.h - the routers that hosts are attached to. The hosts of one router are alike, so searches use one
 * of them with the number of hosts as its weight. */
#ifndef HXMESH_TOPOLOGY_ATTACHMENT_ROUTERS_H
#define HXMESH_TOPOLOGY_ATTACHMENT_ROUTERS_H

#include "topology/topology.h"

/* Returns the router of a host with one link; of a host that forwards: itself. */
uint32_t hx_fabric_attachment_router(const struct hx_fabric *f, uint32_t host);

struct hx_attachment_routers {
    uint32_t count;
    uint32_t living;  /* hosts with a link */
    uint32_t *node;   /* [count]: hx_fabric_attachment_router() */
    uint32_t *host;   /* [count]: one host there */
    uint32_t *weight; /* [count]: hosts there */
};

void hx_attachment_routers_take(struct hx_attachment_routers *s, const struct hx_fabric *f);
void hx_attachment_routers_free(struct hx_attachment_routers *s);

#endif
