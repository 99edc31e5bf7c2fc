/* attachment_routers.c - finds the routers that hosts are attached to (topology/attachment_routers.h). */
#include "topology/attachment_routers.h"

#include <stdlib.h>

uint32_t hx_fabric_attachment_router(const struct hx_fabric *f, uint32_t host)
{
    unsigned links = 0;
    uint32_t far = HX_NOWHERE;
    for (unsigned port = 0; port < HX_LOCAL; port++) {
        uint32_t next = hx_fabric_far(f, host, port).node;
        links += next != HX_NOWHERE;
        far = next != HX_NOWHERE ? next : far;
    }
    return links == 1 && !hx_is_host(f, far) ? far : host;
}

void hx_attachment_routers_take(struct hx_attachment_routers *s, const struct hx_fabric *f)
{
    uint32_t *number = hx_allocate(f->nodes, sizeof *number); /* + 1; 0: none */
    *s = (struct hx_attachment_routers){.node = hx_allocate(f->hosts, sizeof *s->node),
                                        .host = hx_allocate(f->hosts, sizeof *s->host),
                                        .weight = hx_allocate(f->hosts, sizeof *s->weight)};
    for (uint32_t host = 0; host < f->hosts; host++) {
        uint32_t attachment_router = hx_fabric_attachment_router(f, host);
        if (f->failed && f->failed[host])
            continue;
        s->living++;
        if (number[attachment_router] == 0) {
            s->node[s->count] = attachment_router;
            s->host[s->count] = host;
            number[attachment_router] = ++s->count;
        }
        s->weight[number[attachment_router] - 1]++;
    }
    free(number);
}

void hx_attachment_routers_free(struct hx_attachment_routers *s)
{
    free(s->node);
    free(s->host);
    free(s->weight);
}
