/* reroute.c - searches paths around what is down (reroute.h). */
#include "reroute.h"
#include "base/error.h"
#include "conditions.h"
#include "topology/updown.h"

#include <stdlib.h>

/* Routing state of one plane. */
struct plane_reroute {
    struct hx_fabric rerouted; /* .updown NULL: nothing was ever down */
    uint64_t *down;            /* [nodes]: ports that are down, at the last search */
};

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

static void begin(struct worker *w)
{
    const struct hx_fabric *g = w->f->g;
    w->reroute = hx_allocate(g->planes, sizeof *w->reroute);
    for (unsigned plane = 0; plane < g->planes; plane++)
        w->reroute[plane].down = hx_allocate(g->nodes, sizeof *w->reroute[plane].down);
}

unsigned reroute_follow(struct worker *w)
{
    const struct hx_fabric *g = w->f->g;
    unsigned changed = 0;
    if (!hx_updown_may_change(g))
        return 0;
    if (!w->reroute)
        begin(w);
    for (unsigned plane = 0; plane < g->planes; plane++) {
        if (update_down(w, plane) && hx_updown_reroute(&w->reroute[plane].rerouted, g, w->reroute[plane].down))
            changed |= 1U << plane;
    }
    return changed;
}

void reroute_end(struct worker *w)
{
    for (unsigned plane = 0; w->reroute && plane < w->f->g->planes; plane++) {
        free(w->reroute[plane].rerouted.updown);
        free(w->reroute[plane].down);
    }
    free(w->reroute);
    w->reroute = NULL;
}

const struct hx_fabric *reroute_fabric(const struct worker *w, unsigned plane)
{
    return w->reroute && w->reroute[plane].rerouted.updown ? &w->reroute[plane].rerouted : w->f->g;
}
