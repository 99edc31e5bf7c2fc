/* hyperx.c - HyperX (Ahn et al., "HyperX: Topology, Routing, and Packaging of Efficient Large-Scale Networks", SC09):
 * routers on a grid, each joined to all others along each dimension, with p hosts on each.
 *
 * A packet takes at most one hop per dimension, in any order in up to three dimensions; each hop moves to the next VC.
 * `hyperx 32x32 p=1` is the grid of routers of 62 links that SC22 simulates as its HyperX; its table II prices `32x32
 * Hx1Mesh`. Cables of the first dimension are copper. A group is a router and its hosts. */
#include "topology/grid.h"
#include "topology/topology.h"

enum { MOST_DIMENSIONS = 4, MOST_WHOLE = 2048 };

static bool take_sides(struct hx_grid *g, const struct hx_spec_tokens *tokens, struct hx_problem *problem)
{
    if (tokens->sizes == 0 || tokens->sizes > MOST_DIMENSIONS)
        return hx_spec_tokens_fail(tokens, problem, "one to four sizes are needed, for example 'hyperx 8x8'");
    g->dimensions = tokens->sizes;
    for (unsigned i = 0; i < g->dimensions; i++) {
        if (tokens->size[i] < 2 || tokens->size[i] > HX_MAX_RADIX)
            return hx_spec_tokens_fail(tokens, problem, "a side of %u: 2 to %d are possible", tokens->size[i],
                                       HX_MAX_RADIX);
        g->dimension[i] =
            (struct hx_grid_dimension){.kind = HX_GRID_FULL, .side = tokens->size[i], .board = 1, .gbps = 1};
    }
    unsigned links = hx_grid_radix(g);
    if (links >= HX_MAX_RADIX)
        return hx_spec_tokens_fail(
            tokens, problem,
            "routers of %u links and a host: they have %d ports, so that the sides can be %u less in all", links,
            HX_MAX_RADIX, links + 1 - HX_MAX_RADIX);
    return true;
}

/* Reads p. The default is as many hosts as the smallest side gives full bandwidth. */
static bool take_hosts(struct hx_grid *g, struct hx_spec_tokens *tokens, struct hx_problem *problem)
{
    unsigned room = HX_MAX_RADIX - hx_grid_radix(g);
    unsigned default_value = room;
    for (unsigned i = 0; i < g->dimensions; i++)
        default_value = g->dimension[i].side < default_value ? g->dimension[i].side : default_value;
    if (!hx_spec_tokens_number(tokens, "p", 1, HX_MAX_RADIX, default_value, &g->places, problem))
        return false;
    if (g->places > room)
        return hx_spec_tokens_fail(tokens, problem,
                                   "%u hosts do not fit beside %u links of a router of %d ports; p=%u does", g->places,
                                   HX_MAX_RADIX - room, HX_MAX_RADIX, room);
    return true;
}

static bool build(struct hx_fabric *f, struct hx_spec_tokens *tokens, struct hx_problem *problem)
{
    static const char *const keys[] = {"p", NULL};
    struct hx_grid grid = {.places = 0};
    if (!take_sides(&grid, tokens, problem) || !take_hosts(&grid, tokens, problem) ||
        !hx_spec_tokens_end(tokens, keys, MOST_DIMENSIONS, problem))
        return false;
    grid.split = hx_grid_count(&grid) <= MOST_WHOLE ? grid.dimensions : hx_grid_best_split(&grid);
    struct hx_grid *g = hx_grid_start(f, &grid);
    g->beside = (uint8_t)hx_fabric_class_of_kind(f, "host", HX_DAC);
    unsigned near = hx_fabric_class_of_kind(f, "near", HX_DAC);
    unsigned far = hx_fabric_class_of_kind(f, "far", HX_AOC);
    for (unsigned i = 0; i < g->dimensions; i++)
        g->dimension[i].cable = (uint8_t)(i ? far : near);
    f->rule = HX_VC_BY_HOP;
    f->vcs = g->dimensions;
    if (g->dimensions <= 2 && g->split == g->dimensions &&
        hx_grid_count(g) > 2) /* a detour has two hops per dimension; more exceed the VCs */
        f->detours = (struct hx_detours){.vcs = 2 * g->dimensions, .rule = HX_VC_BY_HOP, .weighed = true};
    f->bought_planes = 16;
    hx_grid_add_links(f);
    return hx_fabric_finish(f, problem);
}

const struct hx_topology hx_topology_hyperx = {
    HX_TOPOLOGY("hyperx", "AxBxCxD (one to four sides) p=N (hosts a router)", "hyperx 32x32 p=1",
                "routers joined to all others along each side of a grid (SC09)", build),
    .near_on_grid = true,
    HX_GRID_FUNCTIONS,
};
