/* fault_routes.c - routes around dead links, of a worker's nodes (fault_routes.h). */
#include "fault_routes.h"
#include "base/error.h"
#include "topology/updown.h"

#include <stdlib.h>

bool fault_routes_change(const struct hx_fabric *g)
{
    return g->updown || g->mesh.nodes;
}

unsigned fault_routes_plane(const struct fault_routes *r, const struct virtual_node *n)
{
    return n->hal.tx[0].link / r->w->m->layout.links;
}

/* ---- searched routes ---- */

static void add_down(void *of, const struct hit_link *l)
{
    uint64_t *down = of;
    down[l->node] |= UINT64_C(1) << l->port;
}

/* Builds routes of an epoch, in the fabric's order of routers. Returns whether there are any. */
static bool reroute(const struct fault_routes *r, size_t epoch, unsigned plane, struct hx_fabric *rerouted)
{
    const struct hx_fabric *g = r->w->m->g;
    uint64_t *down = hx_allocate(g->nodes, sizeof *down);
    fault_links_each_dead(r->links, epoch, plane, add_down, down);
    bool found = hx_updown_reroute(rerouted, g, down);
    free(down);
    return found;
}

static const struct hx_fabric *notified_at(struct fault_routes *r, size_t epoch, unsigned plane)
{
    struct notified *t = &r->notified[epoch % NOTIFIED];
    bool made = t->fabric[plane].updown && t->route_epoch[plane] == epoch;
    if (!made && !reroute(r, epoch, plane, &t->fabric[plane]))
        return r->w->m->g;
    t->route_epoch[plane] = (uint32_t)epoch;
    return &t->fabric[plane];
}

/* ---- a HammingMesh ---- */

struct marking {
    struct hx_dead_links *dead;
    const struct hx_geometry *g;
};

static void add_dead(void *of, const struct hit_link *l)
{
    const struct marking *m = of;
    (void)hx_dead_links_set(m->dead, m->g, l->node, l->port, true);
}

static struct known_links *new_known(struct fault_routes *r, int64_t epoch, unsigned plane)
{
    const struct hx_geometry *g = &r->w->m->g->mesh;
    struct known_links *k = hx_allocate(1, sizeof *k + hx_dead_links_bytes(g));
    *k = (struct known_links){.epoch = epoch, .plane = plane, .next = r->known};
    hx_dead_links_init(&k->dead, g, k + 1);
    return r->known = k;
}

static struct known_links *known_at(struct fault_routes *r, int64_t epoch, unsigned plane)
{
    for (struct known_links *k = r->known; k; k = k->next)
        if (k->epoch == epoch && k->plane == plane)
            return k;
    struct known_links *k = new_known(r, epoch, plane);
    if (epoch != NO_ROUTE_EPOCH)
        fault_links_each_dead(r->links, (size_t)epoch, plane, add_dead, &(struct marking){&k->dead, &r->w->m->g->mesh});
    return k;
}

/* Returns the node's ports that it found dead, and that the fabric does not know yet. */
static uint64_t found_dead(const struct fault_routes *r, const struct hx_dead_links *dead, uint32_t node, uint64_t up)
{
    const struct hx_geometry *g = &r->w->m->g->mesh;
    uint64_t ports = 0;
    for (unsigned port = 0; port < hx_node_ports(g, node); port++) {
        const uint32_t far = hx_far_end(g, node, port).node;
        ports |= (uint64_t)(far != HX_NOWHERE && !r->w->m->layout.dead[far]) << port; /* not to a failed board */
    }
    return ports & ~up & ~hx_dead_links_at(dead, g, node);
}

/* A node routes around its own dead links before others know of them. */
static struct known_links *known_by(struct fault_routes *r, const struct virtual_node *n, uint32_t node, int64_t epoch)
{
    const struct hx_geometry *g = &r->w->m->g->mesh;
    struct known_links *of_all = known_at(r, epoch, fault_routes_plane(r, n));
    uint64_t own = found_dead(r, &of_all->dead, node, n->hal.up);
    if (own == 0)
        return of_all;
    struct known_links *k = new_known(r, epoch, HX_MAX_PLANES);
    hx_dead_links_copy(&k->dead, &of_all->dead, g);
    for (; own; own &= own - 1)
        (void)hx_dead_links_set(&k->dead, g, node, (unsigned)__builtin_ctzll(own), true);
    return k;
}

static void forget(struct fault_routes *r, struct known_links *k)
{
    if (!k || --k->nodes > 0)
        return;
    struct known_links **at = &r->known;
    while (*at != k)
        at = &(*at)->next;
    *at = k->next;
    free(k);
}

static void begin_around(struct fault_routes *r, struct virtual_node *n, uint32_t node, int64_t epoch)
{
    struct virtual_sim_node *e = n->hal.sim_node;
    struct mesh_switch *s = &r->switches[(size_t)e->index * r->w->m->g->planes + (size_t)(n - e->node)];
    struct known_links *known = known_by(r, n, node, epoch);
    known->nodes++;
    forget(r, s->known);
    s->known = known;
    around_node_begin(&s->around, &r->shared, &known->dead, node, n->hal.up, &n->sw.route, route_tables_of(n));
}

/* ---- all fabrics ---- */

void fault_routes_open(struct fault_routes *r, const struct worker *w, const struct fault_links *links)
{
    const struct hx_fabric *g = w->m->g;
    *r = (struct fault_routes){.w = w, .links = links, .boards = {.spec = w->m->spec}};
    if (!g->mesh.nodes || links->epochs == 0)
        return;
    r->switches = hx_allocate((size_t)w->sim_nodes * g->planes, sizeof *r->switches);
    around_shared_open(&r->shared, g, &r->boards);
}

void fault_routes_build(struct fault_routes *r, struct virtual_node *n, uint32_t node, int64_t epoch)
{
    const struct hx_fabric *g = r->w->m->g;
    if (g->updown && epoch != NO_ROUTE_EPOCH)
        g = notified_at(r, (size_t)epoch, fault_routes_plane(r, n));
    route_tables_refill(r->w->m, g, node, n, &r->boards);
    if (g->mesh.nodes)
        begin_around(r, n, node, epoch);
}
