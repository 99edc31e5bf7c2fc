/* route_tables.c - fills route tables of nodes (route_tables.h). */
#include "route_tables.h"
#include "arena.h"
#include "base/split_mix.h"

#include <stdlib.h>
#include <string.h>

/* Shared bytes. */
struct route_bytes {
    uint64_t hash, bytes;
    void *at;
};

/* Builds the tables of a node into `tables`. */
static void fill(const struct model *m, const struct hx_fabric *g, uint32_t node, struct virtual_node *n, void *tables,
                 struct job_boards *boards)
{
    const struct traffic *t = m->workload.traffic;
    bool host = node < m->g->hosts;
    struct hx_blocked_boards blocked = host ? job_boards_of(boards, n->sw.job) : (struct hx_blocked_boards){NULL};
    hx_fabric_route(&n->sw.route, g, node, blocked, n->hal.up, tables);
    if (hx_settings_x_first(host ? traffic_settings(t, node) : &t->settings) && hx_hosts_forward(t->g))
        hx_route_order_x_first(&n->sw.route, tables);
    if (!host && hx_settings_d_mod_k(&t->settings, g))
        hx_fabric_order_d_mod_k(g, node, tables);
}

/* ---- equal bytes have one memory ---- */

struct route_builder route_builder_open(const struct model *m)
{
    struct route_builder b = {.boards = {.spec = m->spec}};
    for (uint32_t node = 0; node < m->g->nodes; node++) {
        size_t bytes = hx_fabric_route_bytes(m->g, node);
        b.room = bytes > b.room ? bytes : b.room;
    }
    b.scratch = hx_allocate(b.room / sizeof *b.scratch + 1, sizeof *b.scratch);
    b.shared = hx_table_make(offsetof(struct route_bytes, at), sizeof(struct route_bytes));
    return b;
}

void route_builder_close(struct route_builder *b)
{
    job_boards_free(&b->boards);
    hx_table_free(&b->shared);
    free(b->scratch);
}

/* Returns the memory that has these bytes of the scratch. */
static void *share(struct route_builder *b, const void *at, size_t bytes)
{
    const struct route_bytes wanted = {.hash = split_mix_bytes(0, at, bytes), .bytes = bytes};
    struct route_bytes *s = hx_table_find(&b->shared, &wanted);
    while (s && memcmp(s->at, at, bytes) != 0)
        s = hx_table_find_next(&b->shared, s);
    if (!s) {
        s = hx_table_add(&b->shared, &wanted);
        s->at = memcpy(virtual_arena_take(bytes), at, bytes);
    }
    return s->at;
}

/* Moves a pointer to the place in `to` that it has in the scratch. */
static const void *moved(const struct route_builder *b, const void *from, const void *to)
{
    return from ? (const uint8_t *)to + ((const uint8_t *)from - (const uint8_t *)b->scratch) : NULL;
}

void route_tables_make(struct route_builder *b, const struct model *m, uint32_t node, struct virtual_node *n)
{
    size_t bytes = hx_fabric_route_bytes(m->g, node);
    struct hx_route *r = &n->sw.route;
    if (m->faults) {
        fill(m, m->g, node, n, virtual_arena_take(bytes), &b->boards);
        return;
    }
    fill(m, m->g, node, n, b->scratch, &b->boards);
    if (!r->is_router) {
        r->x_table = share(b, r->x_table, r->columns);
        r->y_table = share(b, r->y_table, r->rows);
        return;
    }
    const void *at = share(b, b->scratch, bytes);
    r->addr_hi_ports = moved(b, r->addr_hi_ports, at);
    r->addr_lo_ports = moved(b, r->addr_lo_ports, at);
    r->from = moved(b, r->from, at);
    r->returns = moved(b, r->returns, at);
    r->detour = moved(b, r->detour, at);
    r->vc_increment = moved(b, r->vc_increment, at);
    r->restarted = moved(b, r->restarted, at);
}

void *route_tables_of(const struct virtual_node *n)
{
    const struct hx_route *r = &n->sw.route;
    return (void *)(uintptr_t)(r->is_router ? (const void *)r->addr_hi_ports : (const void *)r->x_table);
}

void route_tables_refill(const struct model *m, const struct hx_fabric *g, uint32_t node, struct virtual_node *n,
                         struct job_boards *boards)
{
    fill(m, g, node, n, route_tables_of(n), boards);
}
