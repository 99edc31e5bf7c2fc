/* ring_order.c - groups of hosts that are a ring (ring_order.h). */
#include "workload/ring_order.h"
#include "base/compare.h"
#include "base/error.h"
#include "topology/attachment_routers.h"

#include <stdlib.h>
#include <string.h>

/* ---- one dimension ---- */

static bool differ_in(const struct hx_fabric_dimension *d, uint32_t stride, const uint32_t *host, uint32_t hosts)
{
    const uint32_t around = stride * d->size;
    if (d->kind != HX_DIMENSION_RING && d->kind != HX_DIMENSION_LINE)
        return false;
    for (uint32_t i = 1; i < hosts; i++) {
        if (host[i] % stride != host[0] % stride || host[i] / around != host[0] / around)
            return false;
    }
    return true;
}

static bool is_along_dimension(const struct hx_fabric *g, const uint32_t *host, uint32_t hosts)
{
    struct hx_fabric_dimension d[HX_MAX_DIMENSIONS];
    const unsigned count = hx_fabric_dimensions(g, d);
    uint32_t stride = 1;
    for (unsigned i = 0; i < count; i++) {
        if (differ_in(&d[i], stride, host, hosts))
            return true;
        stride *= d[i].size;
    }
    return false;
}

/* ---- cables ---- */

bool ring_order_are_joined(const struct hx_fabric *g, uint32_t a, uint32_t b)
{
    const uint32_t from = hx_fabric_attachment_router(g, a);
    const uint32_t to = hx_fabric_attachment_router(g, b);
    for (unsigned port = 0; port < hx_fabric_ports(g, from); port++) {
        if (hx_fabric_far(g, from, port).node == to)
            return true;
    }
    return false;
}

/* A member, and the other members that cables lead to. */
struct stand {
    uint32_t node; /* attachment router; the first field: stands are sorted by it */
    uint32_t host;
    uint32_t beside[2]; /* indices */
};

static struct stand *find(struct stand *stand, uint32_t hosts, uint32_t node)
{
    return bsearch(&node, stand, hosts, sizeof *stand, hx_compare_uint32);
}

/* Returns false unless a member has exactly two others beside it. */
static bool look_around(const struct hx_fabric *g, struct stand *stand, uint32_t hosts, struct stand *s)
{
    unsigned count = 0;
    for (unsigned port = 0; port < hx_fabric_ports(g, s->node); port++) {
        const uint32_t far = hx_fabric_far(g, s->node, port).node;
        const struct stand *other = far == HX_NOWHERE || far == s->node ? NULL : find(stand, hosts, far);
        if (!other)
            continue;
        const uint32_t index = (uint32_t)(other - stand);
        if (count && (index == s->beside[0] || (count == 2 && index == s->beside[1])))
            continue;
        if (count == 2)
            return false;
        s->beside[count++] = index;
    }
    return count == 2;
}

static bool have_two_beside(const struct hx_fabric *g, struct stand *stand, uint32_t hosts)
{
    for (uint32_t i = 0; i < hosts; i++) {
        if ((i && stand[i].node == stand[i - 1].node) || !look_around(g, stand, hosts, &stand[i]))
            return false;
    }
    return true;
}

/* Walks from the first member. Returns false if it comes back before it has met all. */
static bool walk(const struct stand *stand, uint32_t hosts, uint32_t *host)
{
    const uint32_t *first = stand[0].beside;
    uint32_t before = 0;
    uint32_t at = first[0] < first[1] ? first[0] : first[1];
    host[0] = stand[0].host;
    for (uint32_t i = 1; i < hosts; i++) {
        if (at == 0)
            return false;
        host[i] = stand[at].host;
        const uint32_t next = stand[at].beside[stand[at].beside[0] == before];
        before = at;
        at = next;
    }
    return at == 0;
}

static bool is_along_cables(const struct hx_fabric *g, uint32_t *host, uint32_t hosts)
{
    struct stand *stand = hx_allocate(hosts, sizeof *stand);
    uint32_t *order = hx_allocate(hosts, sizeof *order);
    for (uint32_t i = 0; i < hosts; i++)
        stand[i] = (struct stand){.node = hx_fabric_attachment_router(g, host[i]), .host = host[i]};
    qsort(stand, hosts, sizeof *stand, hx_compare_uint32);
    const bool good = have_two_beside(g, stand, hosts) && walk(stand, hosts, order);
    if (good)
        memcpy(host, order, hosts * sizeof *host);
    free(order);
    free(stand);
    return good;
}

bool ring_order(const struct hx_fabric *g, uint32_t *host, uint32_t hosts)
{
    return hosts > 2 && (is_along_dimension(g, host, hosts) || is_along_cables(g, host, hosts));
}
