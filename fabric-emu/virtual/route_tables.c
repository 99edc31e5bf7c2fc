/* route_tables.c - fills route tables of nodes (route_tables.h). */
#include "route_tables.h"

#include <stdlib.h>

struct route_off_limits route_off_limits(const struct model *m)
{
    return (struct route_off_limits){.bits = hx_allocate(hx_spec_boards(m->spec) / 8 + 1, 1)};
}

static struct hx_blocked_boards off_limits_of(struct route_off_limits *o, const struct model *m, uint16_t job)
{
    if (!o->known || o->job != job)
        o->any = hx_spec_blocked_boards(m->spec, job, o->bits);
    o->known = true;
    o->job = job;
    return (struct hx_blocked_boards){o->any ? o->bits : NULL};
}

void route_tables_fill(const struct model *m, const struct hx_fabric *g, uint32_t node, struct virtual_node *n,
                       void *tables, struct route_off_limits *off_limits)
{
    const struct traffic *t = m->workload.traffic;
    bool host = node < m->g->hosts;
    struct hx_blocked_boards blocked =
        host ? off_limits_of(off_limits, m, n->sw.job) : (struct hx_blocked_boards){NULL};
    hx_fabric_route(&n->sw.route, g, node, blocked, n->hal.up, tables);
    if (hx_settings_x_first(host ? traffic_settings(t, node) : &t->settings) && hx_hosts_forward(t->g))
        hx_route_order_x_first(&n->sw.route, tables);
    if (!host && hx_settings_d_mod_k(&t->settings, g))
        hx_fabric_order_d_mod_k(g, node, tables);
}

void route_tables_refill(const struct model *m, const struct hx_fabric *g, uint32_t node, struct virtual_node *n)
{
    const struct hx_route *r = &n->sw.route;
    uintptr_t tables = (uintptr_t)(r->is_router ? (const void *)r->addr_hi_ports : (const void *)r->x_table);
    struct route_off_limits off_limits = route_off_limits(m);
    route_tables_fill(m, g, node, n, (void *)tables, &off_limits);
    free(off_limits.bits);
}
