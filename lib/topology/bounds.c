/* bounds.c - distances and link loads of a fabric's graph (topology/bounds.h). */
#include "topology/bounds.h"

#include "topology/attachment_routers.h"
#include "topology/loads.h"
#include "topology/mesh_alltoall.h"
#include "topology/mesh_bounds.h"
#include "topology/updown.h"

#include <stdlib.h>

/* ---- distances ---- */

unsigned hx_fabric_distance(const struct hx_fabric *f, uint32_t from, uint32_t to)
{
    if (from == to)
        return 0;
    if (f->updown) {
        uint32_t router = hx_fabric_far(f, from, HX_E).node;
        unsigned links =
            router == HX_NOWHERE
                ? HX_UNREACHABLE_DISTANCE
                : f->updown->distance[(size_t)f->node[to].addr_hi * f->updown->routers + router - f->hosts];
        return links == HX_UNREACHABLE_DISTANCE ? HX_CUT_OFF : 2 + links;
    }
    if (f->topology->distance)
        return f->topology->distance(f, from, to);
    return 2 + hx_router_distance(f, hx_fabric_far(f, from, HX_E).node, hx_fabric_far(f, to, HX_E).node);
}

/* Uses that a HammingMesh's dimensions are independent, to avoid visiting all pairs. */
static struct hx_distances mesh_distances(const struct hx_geometry *g)
{
    struct hx_distances all = {.diameter = hx_diameter(g)};
    double sum = 0;
    for (unsigned from = 0; from < g->columns; from++)
        for (unsigned to = 0; to < g->columns; to++)
            sum += (double)g->rows * g->rows * hx_distance(g, from, 0, to, 0);
    for (unsigned from = 0; from < g->rows; from++)
        for (unsigned to = 0; to < g->rows; to++)
            sum += (double)g->columns * g->columns * hx_distance(g, 0, from, 0, to);
    all.router_diameter = all.diameter;
    all.average = g->accelerators > 1 ? sum / ((double)g->accelerators * (g->accelerators - 1.0)) : 0;
    return all;
}

/* Returns the sum of distances over all pairs with a path, and counts these in *reached. */
static uint64_t pair_by_pair(const struct hx_fabric *f, unsigned *longest, uint64_t *reached)
{
    struct hx_attachment_routers s;
    uint64_t sum = 0;
    *longest = 0;
    *reached = 0;
    hx_attachment_routers_take(&s, f);
    for (uint32_t from = 0; from < s.count; from++) {
        uint64_t pairs = (uint64_t)s.weight[from] * (s.weight[from] - 1);
        sum += 2 * pairs; /* to another host on the same router */
        *reached += pairs;
        *longest = pairs && *longest < 2 ? 2 : *longest;
        for (uint32_t to = from + 1; to < s.count; to++) { /* distances are symmetric */
            unsigned links = hx_fabric_distance(f, s.host[from], s.host[to]);
            if (links == HX_CUT_OFF)
                continue;
            pairs = (uint64_t)2 * s.weight[from] * s.weight[to];
            *reached += pairs;
            *longest = links > *longest ? links : *longest;
            sum += links * pairs;
        }
    }
    hx_attachment_routers_free(&s);
    return sum;
}

struct hx_distances hx_fabric_distances(const struct hx_fabric *f)
{
    if (f->mesh.nodes)
        return mesh_distances(&f->mesh);
    struct hx_distances all = {0, 0, 0};
    uint64_t reached = (uint64_t)f->hosts * (f->hosts - 1);
    uint64_t sum = f->topology->distances && !f->updown ? f->topology->distances(f, &all.diameter)
                                                        : pair_by_pair(f, &all.diameter, &reached);
    if (reached)
        all.average = (double)sum / (double)reached;
    bool is_attached = f->nodes > f->hosts && all.diameter >= 2;
    all.router_diameter = all.diameter - (is_attached ? 2 : 0);
    return all;
}

/* ---- loads ---- */

double hx_fabric_alltoall_bound(const struct hx_fabric *f)
{
    double bound = 0;
    if (f->mesh.nodes)
        bound = hx_alltoall_bound(&f->mesh);
    else if (f->topology->alltoall_bound && !f->failed)
        bound = f->topology->alltoall_bound(f);
    if (bound == 0)
        bound = hx_alltoall_by_loads(f);
    return bound < 1 ? bound : 1;
}
