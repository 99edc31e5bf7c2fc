/* node_ports.c - opens a node's ports: devices, NUMA nodes, buffers (node_ports.h). */
#include "node_ports.h"
#include "base/error.h"
#include "devices.h"

#include <limits.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <stdio.h>
#include <string.h>

void *node_memory(size_t bytes, int numa)
{
    void *at = rte_zmalloc_socket(NULL, bytes, RTE_CACHE_LINE_SIZE, numa);
    at = at ? at : rte_zmalloc(NULL, bytes, RTE_CACHE_LINE_SIZE);
    if (!at)
        hx_die(HX_EXIT_ENVIRONMENT, NULL, "EAL has no %zu KiB of memory left (its argument -m)", bytes >> 10);
    return at;
}

/* ---- ports ---- */

static bool is_found(const struct node_config *c, unsigned port, struct rte_eth_dev_info *info)
{
    uint16_t device;
    return rte_eth_dev_get_port_by_name(c->port[port].device, &device) == 0 && rte_eth_dev_info_get(device, info) == 0;
}

/* Mbufs of other pools can arrive: a ring passes on those of its other end, and NUMA nodes have pools of their own. */
static bool has_foreign_frames(const struct node *n)
{
    bool foreign = n->buffers.pools > 1;
    for (unsigned port = 0; port < n->config->ports; port++)
        foreign = foreign || strstr(n->config->port[port].device, "net_ring");
    return foreign;
}

static bool has_chained_frames(const struct node_config *c)
{
    struct rte_eth_dev_info info;
    for (unsigned port = 0; port < c->ports; port++)
        if (is_found(c, port, &info) && device_chains(&info))
            return true;
    return false;
}

/* A core that is far from a device reads each packet from the other NUMA node. */
void node_find_numa(struct node *n)
{
    const struct node_config *c = n->config;
    char word[HX_NAME_BYTES];
    uint16_t device;
    for (unsigned port = 0; port < c->ports; port++) {
        if (!c->port[port].device[0])
            continue;
        const struct core *core = n->core[n->owner[port]];
        const int near = (int)rte_lcore_to_socket_id(core->lcore);
        const int own =
            rte_eth_dev_get_port_by_name(c->port[port].device, &device) == 0 ? rte_eth_dev_socket_id(device) : -1;
        n->numa[port] = own < 0 ? near : own;
        if (n->numa[port] != near)
            hx_warn("--lcores", "port %s: %s is on NUMA node %d, its lcore %u on %d (one of NUMA node %d costs less)",
                    node_port_word(word, c, port), c->port[port].device, own, core->lcore, near, own);
    }
}

/* EAL reports too many devices only by a line of its own. */
void node_check_device_count(const struct node_config *c)
{
    unsigned devices = node_ports_used(c) + c->has_endpoint;
    if (devices > RTE_MAX_ETHPORTS)
        hx_die(HX_EXIT_ENVIRONMENT, "--ports",
               "%u devices are needed, but this DPDK was built for %u at most (meson "
               "setup -Dmax_ethports=%u)",
               devices, (unsigned)RTE_MAX_ETHPORTS, (unsigned)HX_MAX_RADIX + 2);
}

/* Names of the two ends of the link to the built-in endpoint. */
static void name_path(const struct node_config *c, char names[2][32])
{
    (void)snprintf(names[0], sizeof names[0], "hx_local_%u_%u", c->node, c->plane);
    (void)snprintf(names[1], sizeof names[1], "hx_endpoint_%u_%u", c->node, c->plane);
}

static void open_path_to_endpoint(struct node *n, uint16_t ends[2], const struct device_needs *needs)
{
    const struct node_config *c = n->config;
    char names[2][32];
    name_path(c, names);
    const char *const both[2] = {names[0], names[1]};
    device_pair(both, ends, dpdk_port_frames(c->vcs, c->spec.credits, c->spec.credits), needs);
    struct hx_problem problem;
    if (device_start("local", ends[1], false, &problem) == DEVICE_REFUSED)
        hx_die_of(&problem);
}

void node_close_path_to_endpoint(struct node *n)
{
    char names[2][32];
    name_path(n->config, names);
    const char *const both[2] = {names[0], names[1]};
    const uint16_t ends[2] = {n->port[HX_LOCAL].device, n->endpoint_device};
    device_pair_close(both, ends);
}

/* Job of the board behind a tree switch's port. A network carries all jobs and its switch checks no tags. Without this
 * check a board could send with another job's tag. */
struct dpdk_job node_job_of(const struct node_config *c, unsigned port)
{
    struct hx_end far = hx_far_end(&c->g, c->node, port);
    if (c->place.kind == HX_ACCELERATOR || far.node == HX_NOWHERE || !hx_is_host(c->spec.graph, far.node))
        return (struct dpdk_job){0};
    return (struct dpdk_job){hx_spec_board_job(&c->spec, hx_spec_board_of(&c->spec, far.node)), UINT16_MAX};
}

bool node_is_endpoint(const struct node_config *c, unsigned port)
{
    return port == HX_LOCAL && c->has_endpoint && c->place.kind == HX_ACCELERATOR;
}

static bool is_authenticated(const struct node_config *c, unsigned port)
{
    return c->authenticated && !node_is_endpoint(c, port);
}

const char *node_name_port(char text[NODE_PORT_TEXT], const struct node_config *c, unsigned port)
{
    char word[HX_NAME_BYTES];
    (void)snprintf(text, NODE_PORT_TEXT, "port %s", node_port_word(word, c, port));
    return text;
}

static struct device_needs needs_of(const struct node *n, unsigned port)
{
    const struct node_config *c = n->config;
    return (struct device_needs){.mtu = (unsigned)c->values.mtu + (is_authenticated(c, port) ? HX_AUTH_TAG_BYTES : 0U),
                                 .queue = (unsigned)c->values.queue,
                                 .pool = node_pool(n, port),
                                 .foreign = has_foreign_frames(n),
                                 .chained = has_chained_frames(c),
                                 .isolated = c->values.isolate};
}

/* Returns the device of a port, or DPDK_NO_DEVICE with a problem. */
uint16_t node_open_device(struct node *n, unsigned port, struct hx_problem *problem)
{
    char where[NODE_PORT_TEXT];
    uint16_t device;
    const struct device_needs needs = needs_of(n, port);
    if (!device_open(node_name_port(where, n->config, port), n->config->port[port].device, &needs, &device, problem))
        return DPDK_NO_DEVICE;
    device_watch_begin(&n->watch[port], device);
    return device;
}

/* A trial goes on, to find what else is wrong. */
void node_refuse(struct node *n, unsigned port, const struct hx_problem *problem)
{
    if (!n->config->trial)
        hx_die_of(problem);
    hx_complain(problem->where, "%s", problem->what);
    n->refused |= (uint64_t)1 << port;
}

static uint16_t open_cable(struct node *n, unsigned port)
{
    struct hx_problem problem;
    const uint16_t device = node_open_device(n, port, &problem);
    if (device == DPDK_NO_DEVICE)
        node_refuse(n, port, &problem);
    return device;
}

void node_open_port(struct node *n, unsigned port)
{
    const struct node_config *c = n->config;
    const bool has_device = c->port[port].device[0];
    const bool endpoint = node_is_endpoint(c, port);
    const struct device_needs needs = needs_of(n, port);
    uint16_t ends[2] = {DPDK_NO_DEVICE, DPDK_NO_DEVICE};
    if (endpoint)
        open_path_to_endpoint(n, ends, &needs);
    else if (has_device)
        ends[0] = open_cable(n, port);
    const struct dpdk_port_config config = {.device = ends[0],
                                            .plane = (uint8_t)c->plane,
                                            .vcs = (uint8_t)c->vcs,
                                            .blocks = n->buffers.blocks,
                                            .peer_blocks = c->spec.credits,
                                            .lose_credit = (uint32_t)c->values.lose_credits,
                                            .credit_period = node_ticks(n, c->values.credit_period_ns),
                                            .key = is_authenticated(c, port) ? &c->key : NULL,
                                            .pool = needs.pool,
                                            .notices = endpoint ? NULL : &n->notices,
                                            .number = port,
                                            .drops = n->core[n->owner[port]]->drops,
                                            .job = node_job_of(c, port)};
    const size_t bytes = dpdk_port_bytes(c->vcs, n->buffers.blocks, c->spec.credits);
    dpdk_port_init(&n->port[port], &config, has_device ? node_memory(bytes, n->numa[port]) : NULL);
    n->cables |= (uint64_t)(ends[0] != DPDK_NO_DEVICE) << port;
    n->unstarted |= (uint64_t)(ends[0] != DPDK_NO_DEVICE) << port;
    if (ends[1] != DPDK_NO_DEVICE)
        n->endpoint_device = ends[1];
}
