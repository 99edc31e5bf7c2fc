/* even_loads.c - splits all-to-all evenly over candidates (even_loads.h). */
#include "tools/paths/even_loads.h"

#include <stdlib.h>
#include <string.h>

static uint32_t links_of(const struct hx_channels *c)
{
    return c->first_link[c->g->nodes];
}

void hx_even_loads_init(struct hx_even_loads *l, const struct hx_channels *c)
{
    *l = (struct hx_even_loads){.g = c->g};
    l->link = hx_allocate(links_of(c), sizeof *l->link);
    l->forward = hx_allocate(c->g->nodes, sizeof *l->forward);
    l->through = hx_allocate(c->count, sizeof *l->through);
}

void hx_even_loads_free(struct hx_even_loads *l)
{
    HX_FREE(l->link, l->forward, l->through);
    *l = (struct hx_even_loads){.g = NULL};
}

void hx_even_loads_clear(struct hx_even_loads *l, const struct hx_channels *c)
{
    memset(l->link, 0, links_of(c) * sizeof *l->link);
    memset(l->forward, 0, c->g->nodes * sizeof *l->forward);
}

static void split(struct hx_even_loads *l, const struct hx_channels *c, struct hx_end at, unsigned vc, uint64_t ports,
                  double amount)
{
    const uint64_t in_x = ports & (1U << HX_E | 1U << HX_W);
    if (l->g->mesh.nodes && hx_is_host(l->g, at.node) && in_x)
        ports = in_x;
    const double part = amount / __builtin_popcountll(ports);
    for (; ports; ports &= ports - 1)
        l->through[hx_channel_behind(c, at.node, at.port, vc, (unsigned)__builtin_ctzll(ports))] += part;
}

void hx_even_loads_send(struct hx_even_loads *l, const struct hx_channels *c, uint32_t host, unsigned vc,
                        uint64_t ports, double amount)
{
    split(l, c, (struct hx_end){host, HX_LOCAL}, vc, ports, amount);
}

/* Whether a packet that came to a router goes on, from a router to a router. */
static bool is_forwarded(const struct hx_fabric *g, struct hx_end at, uint64_t ports)
{
    return ports && !hx_is_host(g, at.node) && !hx_is_host(g, hx_fabric_far(g, at.node, at.port).node) &&
           !hx_is_host(g, hx_fabric_far(g, at.node, (unsigned)__builtin_ctzll(ports)).node);
}

void hx_even_loads_carry(struct hx_even_loads *l, const struct hx_channels *c, const struct hx_passed_channel *passed,
                         uint32_t count)
{
    while (count--) {
        const struct hx_passed_channel *p = &passed[count];
        const double amount = l->through[p->channel];
        l->through[p->channel] = 0;
        if (amount == 0)
            continue;
        const struct hx_end at = hx_channel_far(c, p->channel);
        l->link[p->channel / HX_CHANNEL_VCS] += amount;
        if (is_forwarded(l->g, at, p->ports))
            l->forward[at.node] += amount;
        if (p->ports)
            split(l, c, at, p->channel % HX_CHANNEL_VCS, p->ports, amount);
    }
}

double hx_even_loads_share(const struct hx_even_loads *l, const struct hx_channels *c)
{
    const struct hx_fabric *g = l->g;
    const double injection = hx_fabric_injection(g, HX_LINK_GBPS);
    double most = 1 / injection; /* hosts inject no more */
    for (uint32_t node = 0; node < g->nodes; node++) {
        for (unsigned port = 0; port < hx_fabric_ports(g, node); port++) {
            const double room = hx_class_gbps(hx_fabric_link(g, node, port), HX_LINK_GBPS) / HX_LINK_GBPS;
            const double load = l->link[c->first_link[node] + port] / room;
            most = load > most ? load : most;
        }
        if (!hx_is_host(g, node) && g->forwarding && g->forwarding[node - g->hosts].gbps) {
            const double load = l->forward[node] * HX_LINK_GBPS / g->forwarding[node - g->hosts].gbps;
            most = load > most ? load : most;
        }
    }
    return 1 / (injection * most);
}
