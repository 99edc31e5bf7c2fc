/* path_states.c - finds the states of packets (topology/path_states.h). */
#include "topology/path_states.h"

#include <stdlib.h>

static uint64_t turn_mask(const struct hx_tables *tables, uint32_t node, unsigned input)
{
    const struct hx_route *r = &tables->route[node];
    return hx_is_host(tables->f, node) ? r->turn_mask[input] : r->from[input];
}

static bool begins_by(const struct hx_fabric *f, uint32_t node, unsigned input)
{
    if (hx_is_host(f, node))
        return input == HX_LOCAL;
    uint32_t far = hx_fabric_far(f, node, input).node;
    return far != HX_NOWHERE && hx_is_host(f, far);
}

static uint32_t state_of(struct hx_path_states *t, uint32_t first, uint64_t set)
{
    uint32_t state = first;
    while (state < t->count && t->turn_mask[state] != set)
        state++;
    t->count += state == t->count;
    t->turn_mask[state] = set;
    return state;
}

void hx_path_states_take(struct hx_path_states *t, const struct hx_tables *tables)
{
    const struct hx_fabric *f = tables->f;
    uint32_t most = f->ports + f->nodes;
    uint32_t *by = hx_allocate(f->ports, sizeof *by); /* state of a packet from a port */
    *t = (struct hx_path_states){.first = hx_allocate(f->nodes, sizeof *t->first),
                                 .start = hx_allocate(f->nodes, sizeof *t->start),
                                 .node = hx_allocate(most, sizeof *t->node),
                                 .turn_mask = hx_allocate(most, sizeof *t->turn_mask),
                                 .behind = hx_allocate(f->ports, sizeof *t->behind)};
    for (uint32_t node = 0; node < f->nodes; node++) {
        t->first[node] = t->count;
        for (unsigned port = 0; port < hx_fabric_ports(f, node); port++) {
            uint32_t state = state_of(t, t->first[node], turn_mask(tables, node, port));
            by[f->node[node].first_port + port] = state;
            t->node[state] = node;
            if (begins_by(f, node, port))
                t->start[node] = state;
        }
    }
    for (uint32_t port = 0; port < f->ports; port++) {
        struct hx_end far = f->port[port].far;
        t->behind[port] = far.node == HX_NOWHERE ? HX_NOWHERE : by[f->node[far.node].first_port + far.port];
    }
    free(by);
}

void hx_path_states_free(struct hx_path_states *t)
{
    free(t->first);
    free(t->start);
    free(t->node);
    free(t->turn_mask);
    free(t->behind);
}
