/* support_dpdk.c - nodes, cables and turns (support_dpdk.h). */
#include "tests/support/dpdk/support_dpdk.h"
#include "base/error.h"
#include "nodes/dpdk/core.h"
#include "nodes/dpdk/devices.h"
#include "nodes/dpdk/local.h"

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_ring.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CABLE_FRAMES = 2048, LIST_BYTES = 2048 };

void lab_start_eal(void)
{
    static char folder[] = "/tmp/hxmesh-lab-XXXXXX";
    char *arguments[] = {"lab",         "--no-huge",   "-m",       "1024",     "--no-pci",    "--no-telemetry",
                         "--no-shconf", "--log-level", "critical", "--lcores", "0@0,1@0,2@0", NULL};
    if (!mkdtemp(folder) || setenv("RUNTIME_DIRECTORY", folder, 1) != 0 || rte_eal_init(11, arguments) < 0)
        hx_die(HX_EXIT_ENVIRONMENT, "EAL", "does not start");
    static const char *const left[] = {"dpdk/rte", "dpdk"}; /* empty, since EAL shares no files */
    for (unsigned i = 0; i < sizeof left / sizeof *left; i++) {
        char path[64];
        (void)snprintf(path, sizeof path, "%s/%s", folder, left[i]);
        (void)rmdir(path);
    }
    (void)rmdir(folder);
}

static void name_end(char name[32], uint32_t node, unsigned port)
{
    (void)snprintf(name, 32, "cable_%u_%u", node, port);
}

static void lay_cable(struct lab *lab, uint32_t node, unsigned port, struct hx_end far)
{
    char names[2][32];
    uint16_t ends[2];
    const char *const both[2] = {names[0], names[1]};
    const struct device_needs needs = {.mtu = NODE_FULL_MTU, .queue = 32, .pool = lab->pool};
    name_end(names[0], node, port);
    name_end(names[1], far.node, far.port);
    device_pair(both, ends, CABLE_FRAMES, &needs);
    lab->into[node][port] = rte_ring_lookup(names[0]);
    lab->into[far.node][far.port] = rte_ring_lookup(names[1]);
}

static void lay_cables(struct lab *lab, const struct hx_fabric *g)
{
    for (uint32_t node = 0; node < lab->nodes; node++) {
        for (unsigned port = 0; port < hx_fabric_ports(g, node); port++) {
            struct hx_end far = hx_fabric_far(g, node, port);
            if (far.node < lab->nodes && !lab->into[node][port])
                lay_cable(lab, node, port, far);
        }
    }
}

static void open_node(struct lab *lab, uint32_t id, const struct hx_fabric *g, const struct lab_settings *s)
{
    char name[HX_NAME_BYTES];
    char ports[LIST_BYTES] = "";
    bool accelerator = id < g->hosts;
    size_t used = 0;
    for (unsigned port = 0; port < hx_fabric_ports(g, id); port++) {
        char cable[32];
        char number[8];
        (void)snprintf(number, sizeof number, "%u", port);
        name_end(cable, id, port);
        if (lab->into[id][port])
            used += (size_t)snprintf(ports + used, sizeof ports - used, "%s=net_ring_%s,",
                                     accelerator ? hx_port_letters[port] : number, cable);
    }
    if (accelerator)
        (void)snprintf(ports + used, sizeof ports - used, "local=endpoint");
    struct node_values values = node_default_values;
    values.settings = hx_default_settings;
    values.settings.message = s->message;
    values.settings.count = s->count;
    values.settings.given = HX_GIVEN_MESSAGE | HX_GIVEN_COUNT;
    values.sizes.credits = s->credits;
    values.queue = 32;
    values.lose_credits = s->lose_credits;
    values.given = NODE_GIVEN_QUEUE | NODE_GIVEN_LOSE_CREDITS;
    values.fabric = s->fabric;
    values.node = hx_node_name(name, g, 0, id);
    values.ports = ports;
    values.key_file = s->key_file;
    values.lcores = accelerator && s->lcores ? s->lcores : NULL;
    node_config_load(&lab->config[id], NULL, &values);
    node_open(&lab->node[id], &lab->config[id]);
}

void lab_open(struct lab *lab, const struct lab_settings *s)
{
    struct hx_spec spec;
    *lab = (struct lab){.nodes = 0};
    hx_spec_load(s->fabric, NULL, &spec);
    const struct hx_fabric *g = hx_spec_fabric(&spec);
    lab->nodes = s->nodes ? s->nodes : g->nodes;
    if (lab->nodes > LAB_NODES)
        hx_die(HX_EXIT_USAGE, s->fabric, "more nodes than the lab has room for");
    lab->pool = rte_pktmbuf_pool_create("lab", 2047, 0, 0, 8832, SOCKET_ID_ANY);
    lay_cables(lab, g);
    for (uint32_t id = 0; id < lab->nodes; id++)
        open_node(lab, id, g, s);
    for (uint32_t id = 0; id < lab->nodes; id++) {
        node_start_clock(&lab->node[id]); /* opening others may have taken as long as a dead link */
        (void)node_watch_links(&lab->node[id]);
        atomic_store(&lab->node[id].up, atomic_load(&lab->node[id].carrier));
    }
    hx_spec_free(&spec);
}

/* Packets in the cables belong to pools that end with the process. */
void lab_close(struct lab *lab)
{
    for (unsigned id = 0; id < lab->nodes; id++) {
        for (unsigned port = 0; port < HX_MAX_RADIX; port++) {
            void *frame;
            while (lab->into[id][port] && rte_ring_dequeue(lab->into[id][port], &frame) == 0)
                rte_pktmbuf_free(frame);
        }
    }
    for (unsigned id = 0; id < lab->nodes; id++) {
        node_close(&lab->node[id]);
        buffers_close(&lab->node[id].buffers);
        node_config_free(&lab->config[id]);
    }
    for (unsigned id = 0; id < lab->nodes; id++) {
        for (unsigned port = 0; port < HX_MAX_RADIX; port++)
            rte_ring_free(lab->into[id][port]);
    }
    rte_mempool_free(lab->pool);
}

void lab_turn(struct lab *lab)
{
    for (unsigned id = 0; id < lab->nodes; id++) {
        struct node *n = &lab->node[id];
        for (unsigned core = 0; core < n->cores; core++)
            (void)core_loop(n->core[core]);
        if (n->local)
            (void)local_step(n->local);
    }
}

bool lab_is_done(const struct lab *lab)
{
    for (unsigned id = 0; id < lab->nodes; id++) {
        const struct local *l = lab->node[id].local;
        if (l && !atomic_load(&l->done))
            return false;
    }
    return true;
}

bool lab_run(struct lab *lab, unsigned seconds)
{
    uint64_t end = rte_rdtsc() + seconds * rte_get_tsc_hz();
    while (!lab_is_done(lab)) {
        if (rte_rdtsc() > end)
            return false;
        lab_turn(lab);
    }
    return true;
}

uint64_t lab_drops(const struct lab *lab, enum hx_drop reason)
{
    uint64_t sum = 0;
    for (unsigned id = 0; id < lab->nodes; id++) {
        uint64_t drops[HX_DROP_COUNT];
        node_drops(&lab->node[id], drops);
        sum += drops[reason];
    }
    return sum;
}

uint64_t lab_corrupted(const struct lab *lab)
{
    uint64_t sum = 0;
    for (unsigned id = 0; id < lab->nodes; id++)
        sum += lab->node[id].local ? lab->node[id].local->bytes_corrupted : 0;
    return sum;
}

uint64_t lab_failed(const struct lab *lab)
{
    uint64_t sum = 0;
    for (unsigned id = 0; id < lab->nodes; id++)
        sum += lab->node[id].local ? lab->node[id].local->endpoint.stats.messages_failed : 0;
    return sum;
}
