/* layout.c - numbers nodes and links and shares them out (layout.h). */
#include "layout.h"

#include <stdlib.h>

unsigned layout_board_of(const struct hx_spec *spec, const struct hx_geometry *g, uint32_t accelerator)
{
    struct hx_place at = hx_place_of(g, accelerator);
    return hx_spec_board_at(spec, at.gx, at.gy);
}

uint16_t layout_job_of(const struct hx_spec *spec, const struct hx_geometry *g, uint32_t accelerator)
{
    return hx_spec_board_job(spec, layout_board_of(spec, g, accelerator));
}

static unsigned board_worker(const struct hx_spec *spec, unsigned workers, unsigned board)
{
    return (unsigned)((uint64_t)board * workers / hx_spec_boards(spec));
}

static unsigned worker_of(const struct hx_spec *spec, const struct hx_geometry *g, unsigned workers, uint32_t node)
{
    struct hx_place at = hx_place_of(g, node);
    if (at.kind == HX_ACCELERATOR)
        return board_worker(spec, workers, layout_board_of(spec, g, node));
    if (at.kind == HX_ROW_SWITCH)
        return board_worker(spec, workers, at.line / g->b * g->x + g->x / 2U);
    return at.line % workers;
}

void layout_make(struct layout *l, const struct hx_spec *spec, const struct hx_geometry *g, unsigned workers)
{
    l->first_link = hx_allocate(g->nodes, sizeof *l->first_link);
    l->worker = hx_allocate(g->nodes, sizeof *l->worker);
    l->dead = hx_allocate(g->nodes, sizeof *l->dead);
    uint32_t link = 0;
    for (uint32_t node = 0; node < g->nodes; node++) {
        l->first_link[node] = link;
        link += hx_node_ports(g, node);
        l->worker[node] = (uint8_t)worker_of(spec, g, workers, node);
        l->dead[node] = node < g->accelerators && hx_spec_board_failed(spec, layout_board_of(spec, g, node));
    }
    l->links = link + g->accelerators;
}

void layout_free(struct layout *l)
{
    free(l->first_link);
    free(l->worker);
    free(l->dead);
}
