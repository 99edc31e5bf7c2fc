/* transitions.c - takes links down, one at a time (transitions.h). */
#include "tools/paths/transitions.h"
#include "spec/circuits/circuits.h"
#include "tools/paths/explore.h"
#include "tools/paths/links.h"
#include "topology/updown.h"

#include <stdlib.h>
#include <string.h>

/* ---- a HammingMesh ---- */

static uint64_t all_ports(unsigned ports)
{
    return ports < 64 ? (UINT64_C(1) << ports) - 1 : UINT64_MAX;
}

static bool same_tables(const struct hx_route *a, const struct hx_route *b)
{
    if (a->is_router)
        return memcmp(a->addr_hi_ports, b->addr_hi_ports, a->columns * sizeof *a->addr_hi_ports) == 0 &&
               memcmp(a->addr_lo_ports, b->addr_lo_ports, a->rows * sizeof *a->addr_lo_ports) == 0;
    return memcmp(a->x_table, b->x_table, a->columns) == 0 && memcmp(a->y_table, b->y_table, a->rows) == 0 &&
           a->incrementing == b->incrementing;
}

/* Whether every output that `less` offers from an input is in `all`. */
static bool offers_less(const struct hx_route *less, const struct hx_route *all, unsigned ports)
{
    bool good = same_tables(less, all);
    for (unsigned input = 0; input < ports && good; input++) {
        if (less->is_router)
            good = !(less->from[input] & ~all->from[input]) && !(less->returns[input] & ~all->returns[input]);
        else
            good = !(less->turn_mask[input] & ~all->turn_mask[input]);
    }
    return good;
}

static bool mesh_port_is_good(const struct hx_fabric *f, uint32_t node, unsigned port)
{
    const struct hx_blocked_boards none = {NULL};
    struct hx_route all;
    struct hx_route less;
    unsigned ports = hx_fabric_ports(f, node);
    size_t bytes = hx_fabric_route_bytes(f, node);
    uint8_t *memory = hx_allocate(2, bytes);
    hx_fabric_route(&all, f, node, none, all_ports(ports), memory);
    hx_fabric_route(&less, f, node, none, all_ports(ports) & ~(UINT64_C(1) << port), memory + bytes);
    bool good = offers_less(&less, &all, ports);
    free(memory);
    return good;
}

static bool mesh_link_is_good(const struct hx_fabric *f, uint32_t node, unsigned port)
{
    struct hx_end far = hx_fabric_far(f, node, port);
    return mesh_port_is_good(f, node, port) && mesh_port_is_good(f, far.node, far.port);
}

/* ---- other fabrics: up-down search ---- */

static struct hx_findings explore(const struct hx_spec *spec, bool mixed, bool *cyclic)
{
    struct hx_plane plane;
    struct hx_channels channels;
    uint32_t *cycle = NULL;
    struct hx_progress quiet = hx_progress_start("check", true);
    hx_plane_init(&plane, spec);
    plane.mixed = mixed;
    hx_channels_init(&channels, &plane);
    struct hx_findings found = hx_explore(&plane, &channels, &quiet);
    hx_progress_end(&quiet);
    *cyclic = hx_channels_cycle(&channels, &cycle) != 0;
    free(cycle);
    hx_channels_free(&channels);
    hx_plane_free(&plane);
    return found;
}

/* Whether routes without the links in `down` are good, alone and together with other routes in the order of the
 * fabric's; `before` NULL: the fabric's own. */
static bool paths_are_good(struct hx_spec *spec, const uint64_t *down, const struct hx_updown *before,
                           uint64_t *unreachable)
{
    struct hx_fabric *f = spec->graph;
    struct hx_updown *own = f->updown;
    struct hx_fabric rerouted = {.updown = NULL};
    bool alone;
    bool mixed;
    if (!hx_updown_reroute(&rerouted, f, down))
        return false;
    f->updown = rerouted.updown;
    struct hx_findings found = explore(spec, false, &alone);
    *unreachable += found.unreachable;
    hx_updown_join(f->updown, before ? before : own);
    (void)explore(spec, true, &mixed);
    free(f->updown);
    f->updown = own;
    return !alone && !mixed && found.dead_ends == 0;
}

static bool link_is_good(struct hx_spec *spec, uint32_t node, unsigned port, uint64_t *unreachable)
{
    uint64_t *down = hx_allocate(spec->graph->nodes, sizeof *down);
    down[node] = UINT64_C(1) << port;
    bool good = paths_are_good(spec, down, NULL, unreachable);
    free(down);
    return good;
}

/* ---- a plan of circuits ---- */

struct trying {
    struct hx_spec *spec;
    struct hx_fabric last; /* routes of the last state; .updown NULL: none */
    struct hx_plan_states found;
};

static void try_state(void *of, uint64_t at_ns, const uint64_t *closed)
{
    struct trying *t = of;
    bool good = paths_are_good(t->spec, closed, t->last.updown, &t->found.unreachable);
    if (!good && t->found.cyclic++ == 0)
        t->found.at_ns = at_ns;
    t->found.states++;
    (void)hx_updown_reroute(&t->last, t->spec->graph, closed);
}

struct hx_plan_states hx_plan_try(struct hx_spec *spec, const struct hx_faults *faults)
{
    struct trying t = {.spec = spec};
    hx_circuits_each_state(spec->graph, faults, try_state, &t);
    free(t.last.updown);
    return t.found;
}

/* ---- all of them ---- */

struct hx_transitions hx_transitions_try(struct hx_spec *spec, struct hx_progress *progress)
{
    const struct hx_fabric *f = spec->graph;
    struct hx_links links = hx_links_list(f, f->mesh.nodes ? HX_LINKS_ALL : HX_LINKS_OF_ROUTERS);
    struct hx_transitions t = {.links = links.count};
    for (uint32_t i = 0; i < links.count; i++) {
        const struct hx_end at = links.link[i];
        if (hx_progress_due(progress))
            hx_progress_show(progress, (double)i / links.count, "");
        bool good = f->mesh.nodes ? mesh_link_is_good(f, at.node, at.port)
                                  : link_is_good(spec, at.node, at.port, &t.unreachable);
        if (!good && t.cyclic++ == 0) {
            t.node = at.node;
            t.port = at.port;
        }
    }
    free(links.link);
    return t;
}
