/* walk.c - follows all minimal paths of one packet, cable by cable (tools/paths/walk.h). */
#include "tools/paths/walk.h"
#include "topology/bounds.h"

#include <stdlib.h>

static uint64_t add_capped(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Adds `path_count` paths to a matching step, or adds the step. Steps below `first` have fewer cables. */
static void arrive(struct hx_walk *w, struct hx_plane *p, size_t first, struct hx_step step)
{
    for (size_t i = first; i < w->count; i++) {
        struct hx_step *known = &w->steps[i];
        if (known->node == step.node && known->input == step.input && known->vc == step.vc) {
            known->path_count = add_capped(known->path_count, step.path_count);
            return;
        }
    }
    w->steps = hx_grow(w->steps, w->count, &w->capacity, sizeof *w->steps);
    const struct hx_coordinate to = hx_address_of(p->g, hx_host_at(p->g, w->to.addr_hi, w->to.addr_lo));
    step.ports = hx_route_ports(hx_plane_route(p, step.node), step.input, to.addr_hi, to.addr_lo);
    w->vcs = step.vc + 1U > w->vcs ? step.vc + 1U : w->vcs;
    w->steps[w->count++] = step;
}

static void advance(struct hx_walk *w, struct hx_plane *p, size_t at, size_t first)
{
    const struct hx_step here = w->steps[at];
    const struct hx_route *route = hx_plane_route(p, here.node);
    for (uint64_t left = here.ports; left; left &= left - 1) {
        unsigned port = (unsigned)__builtin_ctzll(left);
        struct hx_end far = hx_fabric_far(p->g, here.node, port);
        if (far.node == HX_NOWHERE)
            continue;
        arrive(w, p, first,
               (struct hx_step){.node = far.node,
                                .input = far.port,
                                .cables = (uint16_t)(here.cables + 1),
                                .vc = (uint8_t)hx_route_vc(route, here.input, here.vc, port),
                                .path_count = here.path_count});
    }
}

void hx_walk_all(struct hx_walk *w, struct hx_plane *p, struct hx_coordinate from, struct hx_coordinate to)
{
    uint32_t begin_at = hx_host_at(p->g, from.addr_hi, from.addr_lo);
    uint32_t end = hx_host_at(p->g, to.addr_hi, to.addr_lo);
    *w = (struct hx_walk){.from = from, .to = to, .distance = hx_fabric_distance(p->g, begin_at, end)};
    arrive(w, p, 0, (struct hx_step){.node = begin_at, .input = HX_LOCAL, .path_count = 1});
    size_t begin = 0;
    for (unsigned cables = 0; cables < w->distance; cables++) {
        size_t first = w->count;
        for (size_t i = begin; i < first; i++)
            advance(w, p, i, first);
        begin = first;
    }
    for (size_t i = begin; i < w->count; i++)
        if (w->steps[i].node == end)
            w->paths = add_capped(w->paths, w->steps[i].path_count);
}

void hx_walk_free(struct hx_walk *w)
{
    free(w->steps);
    *w = (struct hx_walk){0};
}
