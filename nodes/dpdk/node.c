/* node.c - builds a node from its configuration (node.h). */
#include "node.h"
#include "base/error.h"
#include "core.h" /* circle: a node builds its cores, which run it */
#include "devices.h"
#include "local.h"      /* circle: a node builds its endpoint, which reads the node */
#include "node_ports.h" /* circle: a node opens its ports, which read the node */

#include <limits.h>
#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int numa_of_core(const struct core *c)
{
    return (int)rte_lcore_to_socket_id(c->lcore);
}

/* ---- cores ---- */

static unsigned default_lcore(void)
{
    unsigned worker = rte_get_next_lcore(UINT_MAX, 1, 0);
    return worker < RTE_MAX_LCORE ? worker : rte_get_main_lcore();
}

static struct core *core_on(struct node *n, unsigned lcore)
{
    for (unsigned i = 0; i < n->cores; i++)
        if (n->core[i]->lcore == lcore)
            return n->core[i];
    struct core *c = node_memory(sizeof *c, (int)rte_lcore_to_socket_id(lcore));
    c->node = n;
    c->config = n->config;
    c->lcore = lcore;
    c->index = n->cores;
    c->is_tree = n->config->place.kind != HX_ACCELERATOR;
    n->core[n->cores++] = c;
    return c;
}

static void assign_ports(struct node *n)
{
    for (unsigned port = 0; port < n->config->ports; port++) {
        const struct node_port_config *p = &n->config->port[port];
        unsigned lcore = p->lcore == NODE_ANY_LCORE ? default_lcore() : (unsigned)p->lcore;
        char word[HX_NAME_BYTES];
        if (!rte_lcore_is_enabled(lcore))
            hx_die(HX_EXIT_CONFIG, "--lcores", "port %s: EAL runs no lcore %u (its argument -l)",
                   node_port_word(word, n->config, port), lcore);
        if (p->device[0])
            n->owner[port] = (uint8_t)core_on(n, lcore)->index;
    }
}

static void make_shares(struct node *n, struct core *c)
{
    for (unsigned port = 0; port < n->config->ports; port++) {
        char name[32];
        if (!n->config->port[port].device[0] || n->owner[port] == c->index)
            continue;
        (void)snprintf(name, sizeof name, "hx_share_%u_%u_%u", n->config->node, c->index, port);
        c->send[port] = dpdk_share_new(name, n->config->vcs * n->config->spec.credits, n->numa[port], c->drops);
        if (!c->send[port])
            hx_die(HX_EXIT_ENVIRONMENT, NULL, "EAL has no memory left for rings between cores (its argument -m)");
    }
}

static void make_switch(struct node *n, struct core *c)
{
    const struct node_config *config = n->config;
    for (unsigned port = 0; port < config->ports; port++)
        c->hal.mine |= (uint64_t)(config->port[port].device[0] && n->owner[port] == c->index) << port;
    c->hal.port = n->port;
    c->hal.ports = config->ports;
    c->hal.send = c->send;
    c->hal.drops = c->drops;
    c->hal.stalls = c->stalls;
    c->hal.up = atomic_load(&n->up);
    c->carrier = atomic_load(&n->carrier);
    atomic_store(&c->carrier_seen, c->carrier);
    c->tables = node_memory(hx_route_bytes(&config->g, config->node), numa_of_core(c));
    hx_switch_init(&c->sw, config->ports, config->vcs, config->job, &c->hal,
                   node_memory(hx_switch_bytes(config->ports, config->vcs), numa_of_core(c)));
    core_around_open(&c->around, &n->notices, config);
    core_around_build(&c->around, c->hal.up, (struct hx_blocked_boards){config->blocked}, &c->sw.route, c->tables);
}

/* ---- queries ---- */

void node_routes_build(struct node *n, struct node_routes *r)
{
    const struct node_config *c = n->config;
    *r = (struct node_routes){.tables = hx_allocate(hx_route_bytes(&c->g, c->node), 1)};
    core_around_open(&r->around, &n->notices, c);
    core_around_build(&r->around, atomic_load(&n->up), (struct hx_blocked_boards){c->blocked}, &r->route, r->tables);
}

void node_routes_free(struct node_routes *r)
{
    core_around_close(&r->around);
    free(r->tables);
}

void node_shares_of(const struct node *n, unsigned port, struct dpdk_share **shares)
{
    for (unsigned core = 0; core < n->cores; core++)
        shares[core] = n->core[core]->send[port];
}

/* ---- start and end ---- */

void node_start_clock(struct node *n)
{
    n->started = rte_rdtsc();
    n->links.grace_end = n->started + node_ticks(n, CABLE_SILENCE_NS);
}

void node_open(struct node *n, const struct node_config *config)
{
    *n = (struct node){.config = config, .endpoint_device = DPDK_NO_DEVICE, .ticks_per_second = rte_get_tsc_hz()};
    around_open_notices(&n->notices, config);
    n->notices.of.hold = node_ticks(n, CABLE_NOTICE_HOLD_NS);
    n->notices.of.period = node_ticks(n, CABLE_NOTICE_PERIOD_NS);
    node_check_device_count(config);
    assign_ports(n);
    node_find_numa(n);
    buffers_open(&n->buffers, config, n->numa);
    n->port = node_memory(config->ports * sizeof *n->port, SOCKET_ID_ANY);
    device_watch_open();
    for (unsigned port = 0; port < config->ports; port++)
        node_open_port(n, port);
    n->links.all = config->place.kind == HX_ACCELERATOR ? n->cables & ~((uint64_t)1 << HX_LOCAL) : n->cables;
    node_start_clock(n);
    (void)node_watch_links(n);
    for (unsigned i = 0; i < n->cores; i++) {
        make_shares(n, n->core[i]);
        make_switch(n, n->core[i]);
    }
    if (config->has_endpoint) {
        n->local = local_new(n, n->endpoint_device);
        n->core[n->owner[HX_LOCAL]]->local = n->local;
    }
    n->opened = true;
}

void node_close(struct node *n)
{
    for (unsigned port = 0; port < n->config->ports; port++) {
        if (n->port[port].device != DPDK_NO_DEVICE && !(n->local && port == HX_LOCAL))
            device_close(n->port[port].device);
        rte_free(n->port[port].arrivals.slots[0]);
        device_watch_free(&n->watch[port]);
    }
    if (n->local)
        node_close_path_to_endpoint(n);
    local_free(n->local);
    for (unsigned i = 0; i < n->cores; i++) {
        for (unsigned port = 0; port < n->config->ports; port++)
            dpdk_share_free(n->core[i]->send[port]);
        core_around_close(&n->core[i]->around);
        rte_free(n->core[i]->tables);
        rte_free(n->core[i]->sw.input);
        rte_free(n->core[i]);
    }
    rte_free(n->port);
    around_close_notices(&n->notices);
}

/* ---- totals ---- */

void node_drops(const struct node *n, uint64_t drops[HX_DROP_COUNT])
{
    for (unsigned reason = 0; reason < HX_DROP_COUNT; reason++) {
        drops[reason] = n->local ? node_seen(&n->local->drops[reason]) : 0;
        for (unsigned i = 0; i < n->cores; i++)
            drops[reason] += node_seen(&n->core[i]->drops[reason]);
    }
}

void node_stalls(const struct node *n, uint64_t stalls[HX_STALL_COUNT])
{
    for (unsigned cause = 0; cause < HX_STALL_COUNT; cause++) {
        stalls[cause] = 0;
        for (unsigned i = 0; i < n->cores; i++)
            stalls[cause] += node_seen(&n->core[i]->stalls[cause]);
    }
}

uint64_t node_moved(const struct node *n)
{
    uint64_t moved = 0;
    for (unsigned i = 0; i < n->cores; i++)
        moved += atomic_load_explicit(&n->core[i]->moved, memory_order_relaxed);
    return moved;
}
