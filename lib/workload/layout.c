/* layout.c - numbers nodes and links, and assigns them to workers (layout.h). */
#include "layout.h"

#include <stdlib.h>

uint16_t layout_job_of(const struct hx_spec *spec, uint32_t accelerator)
{
    return hx_spec_board_job(spec, hx_spec_board_of(spec, accelerator));
}

/* Groups with hosts have the lowest numbers. */
static unsigned groups_of_hosts(const struct hx_fabric *g)
{
    unsigned groups = 0;
    for (uint32_t host = 0; host < g->hosts; host++)
        groups = g->node[host].group >= groups ? g->node[host].group + 1 : groups;
    return groups;
}

static unsigned worker_of_group(const struct layout *l, unsigned group)
{
    return l->groups ? (unsigned)((uint64_t)group * l->workers / l->groups) : 0;
}

static unsigned mesh_worker(const struct layout *l, const struct hx_geometry *m, uint32_t node)
{
    struct hx_place at = hx_place_of(m, node);
    return at.kind == HX_ROW_SWITCH ? worker_of_group(l, at.line / m->b * m->x + m->x / 2U) : at.line % l->workers;
}

static unsigned worker_of(const struct layout *l, const struct hx_fabric *g, uint32_t node)
{
    unsigned group = g->node[node].group;
    if (g->mesh.nodes && !hx_is_host(g, node))
        return mesh_worker(l, &g->mesh, node);
    return group < l->groups ? worker_of_group(l, group) : group % l->workers;
}

void layout_make(struct layout *l, const struct hx_spec *spec, const struct hx_fabric *g, unsigned workers)
{
    l->first_link = hx_allocate(g->nodes, sizeof *l->first_link);
    l->worker = hx_allocate(g->nodes, sizeof *l->worker);
    l->dead = hx_allocate(g->nodes, sizeof *l->dead);
    l->workers = workers;
    l->groups = groups_of_hosts(g);
    uint32_t link = 0;
    for (uint32_t node = 0; node < g->nodes; node++) {
        l->first_link[node] = link;
        link += hx_fabric_ports(g, node);
        l->worker[node] = (uint16_t)worker_of(l, g, node);
        l->dead[node] = node < g->hosts && hx_spec_board_failed(spec, hx_spec_board_of(spec, node));
    }
    l->links = link + g->hosts;
}

void layout_free(struct layout *l)
{
    free(l->first_link);
    free(l->worker);
    free(l->dead);
}
