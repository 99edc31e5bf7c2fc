/* host_dimensions.c - dimensions of hosts (hx_fabric_dimensions()). */
#include "topology/topology.h"

/* On a HammingMesh: across a board, across boards, down a board, down boards. */
static unsigned of_mesh(const struct hx_fabric *f, struct hx_fabric_dimension *dimension)
{
    const struct hx_geometry *m = &f->mesh;
    const struct hx_fabric_dimension all[] = {
        {m->a, HX_DIMENSION_LINE}, {m->x, HX_DIMENSION_SWITCH}, {m->b, HX_DIMENSION_LINE}, {m->y, HX_DIMENSION_SWITCH}};
    unsigned count = 0;
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
        if (all[i].size > 1)
            dimension[count++] = all[i];
    }
    return count;
}

/* Hosts of a router, if all have as many, and routers with hosts. */
static unsigned of_routers(const struct hx_fabric *f, struct hx_fabric_dimension *dimension)
{
    uint32_t each = 0;
    while (each < f->hosts && f->node[each].addr_hi == f->node[0].addr_hi)
        each++;
    if (each == 0 || f->hosts % each)
        return 0;
    for (uint32_t host = 0; host < f->hosts; host++) {
        if (f->node[host].addr_hi != f->node[host / each * each].addr_hi)
            return 0;
    }
    unsigned count = 0;
    if (each > 1)
        dimension[count++] = (struct hx_fabric_dimension){each, HX_DIMENSION_SWITCH};
    if (f->hosts > each)
        dimension[count++] = (struct hx_fabric_dimension){f->hosts / each, HX_DIMENSION_SWITCH};
    return count;
}

unsigned hx_fabric_dimensions(const struct hx_fabric *f, struct hx_fabric_dimension dimension[HX_MAX_DIMENSIONS])
{
    if (f->mesh.nodes)
        return of_mesh(f, dimension);
    return f->topology->dimensions ? f->topology->dimensions(f, dimension) : of_routers(f, dimension);
}
