/* tables.c - the tables of all nodes of a fabric (topology/tables.h). */
#include "topology/tables.h"

#include <stdlib.h>

void hx_tables_make(struct hx_tables *t, const struct hx_fabric *f)
{
    *t = (struct hx_tables){
        .f = f, .route = hx_allocate(f->nodes, sizeof *t->route), .memory = hx_allocate(f->nodes, sizeof *t->memory)};
    for (uint32_t node = 0; node < f->nodes; node++) {
        t->memory[node] = hx_allocate(1, hx_fabric_route_bytes(f, node));
        hx_fabric_route(&t->route[node], f, node, (struct hx_blocked_boards){NULL}, UINT64_MAX, t->memory[node]);
    }
}

void hx_tables_free(struct hx_tables *t)
{
    for (uint32_t node = 0; node < t->f->nodes; node++)
        free(t->memory[node]);
    free(t->route);
    free(t->memory);
}

uint64_t hx_tables_onward(const struct hx_tables *t, uint32_t node, uint32_t attachment_router, uint32_t host)
{
    const struct hx_fabric_node *to = &t->f->node[host];
    const struct hx_route *r = &t->route[node];
    if (node == attachment_router)
        return 0;
    uint64_t set = r->is_router ? r->addr_hi_ports[to->addr_hi] & r->addr_lo_ports[to->addr_lo]
                                : r->x_table[to->addr_hi] & r->y_table[to->addr_lo];
    return hx_is_host(t->f, node) ? set & ((1U << HX_LOCAL) - 1) : set;
}
