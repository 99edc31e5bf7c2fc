/* paths.c - follows the routes of the whole fabric (paths.h). */
#include "paths.h"
#include "base/error.h"
#include "conditions.h"
#include "nodes.h" /* circle: routes of any node are built as those of own ones */
#include "topology/reach.h"

#include <stdlib.h>

/* The routes of one node at a time. */
struct routes {
    const struct worker *worker;
    unsigned plane;
    struct hx_route route;
    void *memory;
};

static const struct hx_route *routes_of(void *of, uint32_t node)
{
    struct routes *r = of;
    const struct worker *w = r->worker;
    free(r->memory);
    r->memory = hx_allocate(1, hx_fabric_route_bytes(w->f->g, node));
    node_route(w, r->plane, node, conditions_ports_up(w, r->plane, node), &r->route, r->memory);
    return &r->route;
}

static bool leads(const struct worker *w, uint32_t from, uint32_t to)
{
    bool found = false;
    for (unsigned plane = 0; plane < w->f->g->planes && !found; plane++) {
        struct routes r = {.worker = w, .plane = plane};
        found = hx_reaches(w->f->g, from, to, routes_of, &r);
        free(r.memory);
    }
    return found;
}

/* Most hosts without a path are cut off themselves, which needs no search. */
static bool is_away(const struct worker *w, uint32_t host)
{
    return w->down >> w->f->layout.worker[host] & 1U || conditions_host_is_alone(w, host, 0);
}

bool paths_lead(const struct worker *w, uint32_t a, uint32_t b)
{
    return !is_away(w, a) && !is_away(w, b) && leads(w, a, b) && leads(w, b, a);
}
