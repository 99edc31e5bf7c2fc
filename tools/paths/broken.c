/* broken.c - takes links of a plane down (broken.h). */
#include "tools/paths/broken.h"

#include <stdlib.h>

void hx_broken_init(struct hx_broken *b, const struct hx_spec *spec)
{
    const struct hx_fabric *g = spec->graph;
    *b = (struct hx_broken){.g = g, .boards = {.spec = spec}};
    b->down = hx_allocate(g->nodes, sizeof *b->down);
    b->part = hx_allocate(g->nodes, sizeof *b->part);
    if (!g->mesh.nodes)
        return;
    b->dead_memory = hx_allocate(1, hx_dead_links_bytes(&g->mesh));
    hx_dead_links_init(&b->dead, &g->mesh, b->dead_memory);
    around_shared_open(&b->shared, g, &b->boards);
    b->node = hx_allocate(g->nodes, sizeof *b->node);
}

void hx_broken_free(struct hx_broken *b)
{
    for (uint32_t node = 0; b->node && node < b->g->nodes; node++)
        around_node_end(&b->node[node]);
    if (b->g->mesh.nodes)
        around_shared_close(&b->shared);
    job_boards_free(&b->boards);
    HX_FREE(b->down, b->part, b->dead_memory, b->node);
    *b = (struct hx_broken){.g = NULL};
}

static void set_link(struct hx_broken *b, uint32_t node, unsigned port, bool dead)
{
    const uint64_t bit = UINT64_C(1) << port;
    b->down[node] = dead ? b->down[node] | bit : b->down[node] & ~bit;
    if (b->g->mesh.nodes)
        (void)hx_dead_links_set(&b->dead, &b->g->mesh, node, port, dead);
}

void hx_broken_take(struct hx_broken *b, const struct hx_end *links, uint32_t count)
{
    for (uint32_t node = 0; node < b->g->nodes; node++)
        while (b->down[node])
            set_link(b, node, (unsigned)__builtin_ctzll(b->down[node]), false);
    for (uint32_t i = 0; i < count; i++) {
        const struct hx_end far = hx_fabric_far(b->g, links[i].node, links[i].port);
        set_link(b, links[i].node, links[i].port, true);
        set_link(b, far.node, far.port, true);
    }
}

/* ---- what living links join ---- */

static bool is_blocked(const struct hx_broken *b, uint32_t node)
{
    const struct hx_geometry *m = &b->g->mesh;
    if (!m->nodes || !b->blocked.bits || !hx_is_host(b->g, node))
        return false;
    const uint32_t board = node / m->columns / m->b * m->x + node % m->columns / m->a;
    return b->blocked.bits[board / 8] >> board % 8 & 1;
}

static uint32_t representative(uint32_t *part, uint32_t node)
{
    while (part[node] != node)
        node = part[node] = part[part[node]];
    return node;
}

static void join_parts(struct hx_broken *b)
{
    for (uint32_t node = 0; node < b->g->nodes; node++)
        b->part[node] = node;
    for (uint32_t node = 0; node < b->g->nodes; node++) {
        for (unsigned port = 0; port < hx_fabric_ports(b->g, node); port++) {
            const uint32_t far = hx_fabric_far(b->g, node, port).node;
            if (far != HX_NOWHERE && !(b->down[node] >> port & 1) && !is_blocked(b, node) && !is_blocked(b, far))
                b->part[representative(b->part, node)] = representative(b->part, far);
        }
    }
    for (uint32_t node = 0; node < b->g->nodes; node++)
        b->part[node] = representative(b->part, node);
}

/* ---- routes ---- */

void hx_broken_begin(struct hx_broken *b, struct hx_blocked_boards blocked)
{
    b->blocked = blocked;
    join_parts(b);
}

void hx_broken_route(struct hx_broken *b, uint32_t node, struct hx_route *r, void *tables)
{
    if (b->g->mesh.nodes)
        around_node_begin(&b->node[node], &b->shared, &b->dead, node, ~b->down[node], r, tables);
}
