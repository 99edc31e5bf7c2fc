/* ways.c - searching ways round what is down (ways.h). */
#include "ways.h"
#include "conditions.h"
#include "host/error.h"
#include "host/topology/ways.h"

#include <stdlib.h>

/* What one plane goes by. */
struct plane_ways {
    struct hx_fabric round; /* .ways NULL: nothing was ever down */
    uint64_t *down;         /* [nodes]: ports as they were when it was made */
};

/* Ports of a router that lead to others, but not now. */
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

/* Returns whether it is other than before. */
static bool look(const struct worker *w, unsigned plane)
{
    const struct hx_fabric *g = w->f->g;
    uint64_t *down = w->ways[plane].down;
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
    w->ways = hx_allocate(g->planes, sizeof *w->ways);
    for (unsigned plane = 0; plane < g->planes; plane++)
        w->ways[plane].down = hx_allocate(g->nodes, sizeof *w->ways[plane].down);
}

unsigned ways_follow(struct worker *w)
{
    const struct hx_fabric *g = w->f->g;
    unsigned changed = 0;
    if (!hx_ways_may_change(g))
        return 0;
    if (!w->ways)
        begin(w);
    for (unsigned plane = 0; plane < g->planes; plane++) {
        if (look(w, plane) && hx_ways_go_round(&w->ways[plane].round, g, w->ways[plane].down))
            changed |= 1U << plane;
    }
    return changed;
}

void ways_end(struct worker *w)
{
    for (unsigned plane = 0; w->ways && plane < w->f->g->planes; plane++) {
        free(w->ways[plane].round.ways);
        free(w->ways[plane].down);
    }
    free(w->ways);
    w->ways = NULL;
}

const struct hx_fabric *ways_fabric(const struct worker *w, unsigned plane)
{
    return w->ways && w->ways[plane].round.ways ? &w->ways[plane].round : w->f->g;
}
