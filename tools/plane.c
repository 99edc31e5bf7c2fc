/* plane.c - builds and keeps the routes of a plane (tools/plane.h). */
#include "tools/plane.h"

#include <stdlib.h>

void hx_plane_init(struct hx_plane *p, const struct hx_spec *spec)
{
    *p = (struct hx_plane){.g = hx_spec_geometry(spec), .spec = spec};
    p->barred = hx_allocate((hx_spec_boards(spec) + 7U) / 8U, 1);
    p->routes = hx_allocate(p->g.nodes, sizeof *p->routes);
    p->memory = hx_allocate(p->g.nodes, sizeof *p->memory);
    hx_plane_set_job(p, HX_NO_JOB);
}

static void forget(struct hx_plane *p)
{
    for (uint32_t node = 0; node < p->g.nodes; node++) {
        free(p->memory[node]);
        p->memory[node] = NULL;
    }
}

void hx_plane_free(struct hx_plane *p)
{
    forget(p);
    free(p->barred);
    free(p->routes);
    free(p->memory);
    *p = (struct hx_plane){0};
}

void hx_plane_set_job(struct hx_plane *p, uint16_t tag)
{
    forget(p);
    p->any_barred = hx_spec_barred(p->spec, tag, p->barred);
}

const struct hx_route *hx_plane_route(struct hx_plane *p, uint32_t node)
{
    if (!p->memory[node]) {
        unsigned ports = hx_node_ports(&p->g, node);
        uint64_t up = ports < 64 ? ((uint64_t)1 << ports) - 1 : UINT64_MAX;
        struct hx_barred barred = {p->any_barred ? p->barred : NULL};
        p->memory[node] = hx_allocate(1, hx_route_bytes(&p->g, node));
        hx_route_build(&p->routes[node], &p->g, node, barred, up, p->memory[node]);
    }
    return &p->routes[node];
}

bool hx_plane_has(const struct hx_plane *p, unsigned gx, unsigned gy)
{
    unsigned board = hx_spec_board_at(p->spec, gx, gy);
    return !(p->barred[board / 8] >> board % 8 & 1);
}

uint16_t hx_plane_job_at(const struct hx_plane *p, unsigned gx, unsigned gy)
{
    return hx_spec_board_job(p->spec, hx_spec_board_at(p->spec, gx, gy));
}
