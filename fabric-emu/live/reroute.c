/* reroute.c - routes around what is down (reroute.h). */
#include "reroute.h"
#include "base/error.h"
#include "conditions.h"
#include "topology/updown.h"

#include <stdlib.h>

/* Routing state of one plane. */
struct plane_reroute {
    struct hx_dead_links dead; /* HammingMesh */
    void *dead_memory;
    struct hx_fabric rerouted; /* other fabrics; .updown NULL: nothing was ever down */
    uint64_t *down;            /* [nodes]: ports that are down, at the last search */
};

/* ---- a HammingMesh ---- */

/* Updates the set of dead links. Failed boards have no nodes, and need no routes around. Returns whether it changed. */
static bool update_dead(const struct worker *w, unsigned plane)
{
    const struct hx_fabric *g = w->f->g;
    struct hx_dead_links *dead = &w->reroute[plane].dead;
    bool changed = false;
    uint64_t *up = hx_allocate(g->nodes, sizeof *up);
    for (uint32_t node = 0; node < g->nodes; node++)
        up[node] = conditions_ports_up(w, plane, node);
    for (uint32_t node = 0; node < g->nodes; node++) {
        for (unsigned port = 0; port < hx_fabric_ports(g, node); port++) {
            struct hx_end far = hx_fabric_far(g, node, port);
            if (far.node < node || far.node == HX_NOWHERE || w->f->layout.dead[node] || w->f->layout.dead[far.node])
                continue;
            bool lives = up[node] >> port & 1 && up[far.node] >> far.port & 1;
            changed = hx_dead_links_set(dead, &g->mesh, node, port, !lives) || changed;
        }
    }
    free(up);
    return changed;
}

/* ---- other fabrics ---- */

/* Returns a router's ports to other routers that are down. */
static uint64_t ports_down(const struct worker *w, unsigned plane, uint32_t router)
{
    const struct hx_fabric *g = w->f->g;
    uint64_t up = conditions_ports_up(w, plane, router);
    uint64_t down = 0;
    for (unsigned port = 0; port < hx_fabric_ports(g, router); port++) {
        struct hx_end far = hx_fabric_far(g, router, port);
        bool leads = far.node != HX_NOWHERE && !hx_is_host(g, far.node);
        down |= (uint64_t)(leads && !(up >> port & 1)) << port;
    }
    return down;
}

/* Updates what is down. Returns whether it changed. */
static bool update_down(const struct worker *w, unsigned plane)
{
    const struct hx_fabric *g = w->f->g;
    uint64_t *down = w->reroute[plane].down;
    bool changed = false;
    for (uint32_t router = g->hosts; router < g->nodes; router++) {
        uint64_t now = ports_down(w, plane, router);
        changed = changed || now != down[router];
        down[router] = now;
    }
    return changed;
}

/* ---- all fabrics ---- */

static void begin(struct worker *w)
{
    const struct hx_fabric *g = w->f->g;
    w->reroute = hx_allocate(g->planes, sizeof *w->reroute);
    for (unsigned plane = 0; plane < g->planes; plane++) {
        struct plane_reroute *r = &w->reroute[plane];
        if (!g->mesh.nodes) {
            r->down = hx_allocate(g->nodes, sizeof *r->down);
            continue;
        }
        r->dead_memory = hx_allocate(1, hx_dead_links_bytes(&g->mesh));
        hx_dead_links_init(&r->dead, &g->mesh, r->dead_memory);
    }
    w->boards.spec = &w->f->spec;
    if (g->mesh.nodes)
        around_shared_open(&w->around, g, &w->boards);
}

static bool follow_plane(struct worker *w, unsigned plane)
{
    const struct hx_fabric *g = w->f->g;
    if (g->mesh.nodes)
        return update_dead(w, plane);
    return hx_updown_may_change(g) && update_down(w, plane) &&
           hx_updown_reroute(&w->reroute[plane].rerouted, g, w->reroute[plane].down);
}

unsigned reroute_follow(struct worker *w)
{
    unsigned changed = 0;
    if (!w->reroute)
        begin(w);
    for (unsigned plane = 0; plane < w->f->g->planes; plane++)
        changed |= (unsigned)follow_plane(w, plane) << plane;
    return changed;
}

void reroute_end(struct worker *w)
{
    for (unsigned plane = 0; w->reroute && plane < w->f->g->planes; plane++)
        HX_FREE(w->reroute[plane].rerouted.updown, w->reroute[plane].down, w->reroute[plane].dead_memory);
    free(w->reroute);
    w->reroute = NULL;
    around_shared_close(&w->around);
    job_boards_free(&w->boards);
}

const struct hx_dead_links *reroute_dead(const struct worker *w, unsigned plane)
{
    return &w->reroute[plane].dead;
}

void reroute_build(struct worker *w, unsigned plane, uint32_t id, uint64_t up, struct hx_route *route, void *memory,
                   struct around_node *around)
{
    const struct hx_fabric *g = w->f->g;
    const struct plane_reroute *r = &w->reroute[plane];
    struct hx_blocked_boards blocked = {NULL};
    if (id < g->hosts)
        blocked = job_boards_of(&w->boards, layout_job_of(&w->f->spec, id));
    hx_fabric_route(route, r->rerouted.updown ? &r->rerouted : g, id, blocked, up, memory);
    if (g->mesh.nodes)
        around_node_begin(around, &w->around, &r->dead, id, up, route, memory);
}
