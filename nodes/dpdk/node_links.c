/* node_links.c - follows the links of a node: carriers, starts of devices, devices that leave and return (node.h). */
#include "base/error.h"
#include "core.h" /* circle: a node builds its cores, which run it */
#include "devices.h"
#include "node_ports.h"

#include <rte_cycles.h>

enum {
    RETRY_NS = 200000000,  /* until a memif is started again */
    RETURN_NS = 1000000000 /* until a removed device is asked for again */
};

bool node_is_left_alone(const struct node *n, unsigned port)
{
    return !(atomic_load_explicit(&n->core[n->owner[port]]->carrier_seen, memory_order_acquire) >> port & 1);
}

static bool is_time(struct node *n, unsigned port, uint64_t ns)
{
    const uint64_t now = rte_rdtsc();
    if (now - n->looked_at[port] <= node_ticks(n, ns))
        return false;
    n->looked_at[port] = now;
    return true;
}

/* Says it once, until the device works again. */
static void say_refused(struct node *n, unsigned port, const struct hx_problem *problem)
{
    if (!(n->refused >> port & 1))
        hx_warn(problem->where, "%s", problem->what);
    n->refused |= (uint64_t)1 << port;
}

static void start_device(struct node *n, unsigned port)
{
    const uint64_t bit = (uint64_t)1 << port;
    char where[NODE_PORT_TEXT];
    struct hx_problem problem;
    const bool isolated = n->config->values.isolate && !node_is_endpoint(n->config, port);
    switch (device_start(node_name_port(where, n->config, port), n->port[port].device, isolated, &problem)) {
    case DEVICE_STARTED:
        n->unstarted &= ~bit;
        n->refused &= ~bit;
        break;
    case DEVICE_REFUSED:
        if (!n->opened)
            node_refuse(n, port, &problem);
        else
            say_refused(n, port, &problem);
        break;
    case DEVICE_WAITS:
        break;
    }
}

/* A device that is gone: removed when no core polls it; when it is back, opened. */
static void follow_removal(struct node *n, unsigned port)
{
    struct dpdk_port *p = &n->port[port];
    const char *name = n->config->port[port].device;
    char where[NODE_PORT_TEXT];
    struct hx_problem problem;
    uint16_t returned;
    if (!node_is_left_alone(n, port))
        return;
    if (p->device != DPDK_NO_DEVICE) {
        hx_warn(node_name_port(where, n->config, port), "%s is gone; it is used again when it returns", name);
        device_counts_add(&n->device_counts[port], p->device);
        device_remove(p->device);
        p->device = DPDK_NO_DEVICE;
        n->unstarted |= (uint64_t)1 << port;
        n->looked_at[port] = rte_rdtsc();
        return;
    }
    if (!is_time(n, port, RETURN_NS))
        return;
    device_probe(n->watch[port].arguments);
    if (rte_eth_dev_get_port_by_name(name, &returned) != 0)
        return;
    p->device = node_open_device(n, port, &problem);
    if (p->device == DPDK_NO_DEVICE)
        say_refused(n, port, &problem);
}

static bool has_carrier(struct node *n, unsigned port)
{
    const uint64_t bit = (uint64_t)1 << port;
    const uint16_t device = n->port[port].device;
    if (atomic_load(&n->watch[port].gone)) {
        follow_removal(n, port);
        return false;
    }
    if (!(n->unstarted & bit) && device_is_up(device)) {
        n->looked_at[port] = rte_rdtsc();
        return true;
    }
    if (!node_is_left_alone(n, port) || !is_time(n, port, RETRY_NS))
        return false;
    if (!(n->unstarted & bit) && !device_stop_to_retry(device))
        return false;
    n->unstarted |= bit;
    start_device(n, port);
    return false;
}

/* Says which links are dead. A port without a device is no link of the fabric that was built. */
static void say_dead(struct node *n, uint64_t up)
{
    dpdk_notices_lock(&n->notices);
    cable_notices_say(&n->notices.of, &n->links, n->config->node, up, rte_rdtsc());
    dpdk_notices_unlock(&n->notices);
}

uint64_t node_watch_links(struct node *n)
{
    uint64_t carrier = 0;
    uint64_t up = 0;
    for (uint64_t left = n->cables; left; left &= left - 1) {
        unsigned port = (unsigned)__builtin_ctzll(left);
        carrier |= (uint64_t)has_carrier(n, port) << port;
    }
    for (unsigned i = 0; i < n->cores; i++)
        up |= atomic_load_explicit(&n->core[i]->open, memory_order_relaxed);
    up &= carrier;
    say_dead(n, up);
    atomic_store_explicit(&n->carrier, carrier, memory_order_release); /* of port[].device, too */
    return atomic_exchange_explicit(&n->up, up, memory_order_relaxed) ^ up;
}
