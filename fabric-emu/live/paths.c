/* paths.c - follows the routes of the whole fabric (paths.h). */
#include "paths.h"
#include "base/error.h"
#include "conditions.h"
#include "reroute.h"
#include "topology/reach.h"

#include <stdlib.h>

/* The routes of one node at a time. */
struct routes {
    struct worker *worker;
    unsigned plane;
    struct hx_route route;
    struct around_node around;
    void *memory;
};

static const struct hx_route *routes_of(void *of, uint32_t node)
{
    struct routes *r = of;
    struct worker *w = r->worker;
    free(r->memory);
    around_node_end(&r->around);
    r->memory = hx_allocate(1, hx_fabric_route_bytes(w->f->g, node));
    reroute_build(w, r->plane, node, conditions_ports_up(w, r->plane, node), &r->route, r->memory, &r->around);
    return &r->route;
}

/* In a HammingMesh a packet that is offered a port arrives (include/hxmesh/around.h). */
static bool is_offered(const struct hx_route *r, const struct hx_fabric_node *to)
{
    unsigned vc = hx_route_injects_on(r, to->addr_hi, to->addr_lo);
    return hx_route_candidates(r, HX_LOCAL, vc, to->addr_hi, to->addr_lo) != 0;
}

static bool leads(struct worker *w, uint32_t from, uint32_t to)
{
    bool found = false;
    for (unsigned plane = 0; plane < w->f->g->planes && !found; plane++) {
        struct routes r = {.worker = w, .plane = plane};
        found = w->f->g->mesh.nodes ? is_offered(routes_of(&r, from), &w->f->g->node[to])
                                    : hx_reaches(w->f->g, from, to, routes_of, &r);
        free(r.memory);
        around_node_end(&r.around);
    }
    return found;
}

/* Most hosts without a path are cut off themselves, which needs no search. */
static bool is_away(const struct worker *w, uint32_t host)
{
    return w->down >> w->f->layout.worker[host] & 1U || conditions_host_is_alone(w, host, 0);
}

bool paths_lead(struct worker *w, uint32_t a, uint32_t b)
{
    return !is_away(w, a) && !is_away(w, b) && leads(w, a, b) && leads(w, b, a);
}
