/* node_counts.c - counts of ports (node_counts.h). */
#include "node_counts.h"

static struct device_counts counts_of_devices(const struct node *n, unsigned port)
{
    struct device_counts sum = n->device_counts[port];
    device_counts_add(&sum, n->port[port].device);
    return sum;
}

void node_counts_of_port(const struct node *n, unsigned port, void (*visit)(void *of, const char *name, uint64_t value),
                         void *of)
{
    const struct dpdk_port *p = &n->port[port];
    const struct device_counts d = counts_of_devices(n, port);
#define VISIT(name) visit(of, #name, node_seen(&p->counts.name));
    DPDK_COUNTS(VISIT)
#undef VISIT
#define VISIT(name, field) visit(of, #name, d.name);
    DEVICE_COUNTS(VISIT)
#undef VISIT
    visit(of, "sessions", node_seen_blocks(&p->cable.link.sessions));
    visit(of, "suspected", node_seen_blocks(&p->cable.link.suspected));
}

uint64_t node_lost_by_devices(const struct node *n)
{
    uint64_t lost = 0;
    for (unsigned port = 0; port < n->config->ports; port++) {
        const struct device_counts d = counts_of_devices(n, port);
        lost += device_counts_lost(&d);
    }
    return lost;
}
