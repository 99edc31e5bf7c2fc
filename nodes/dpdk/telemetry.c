/* telemetry.c - commands of rte_telemetry (telemetry.h). */
#include "telemetry.h"
#include "base/counts.h"
#include "devices.h"
#include "node_counts.h"

#include <rte_telemetry.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct node *node;

static void add_count(struct rte_tel_data *d, const char *name, uint64_t value)
{
    (void)rte_tel_data_add_dict_u64(d, name, value);
}

/* Adds a container to `d` for each port in use, or for `only`, filled by `describe`. */
static int by_port(struct rte_tel_data *d, const char *only, void (*describe)(struct rte_tel_data *, unsigned port))
{
    (void)rte_tel_data_start_dict(d);
    for (unsigned port = 0; port < node->config->ports; port++) {
        char word[HX_NAME_BYTES];
        bool asked = !only || only[0] == 0 || strcmp(only, node_port_word(word, node->config, port)) == 0;
        bool used = node->config->port[port].device[0] != 0;
        struct rte_tel_data *of_port = used && asked ? rte_tel_data_alloc() : NULL;
        if (!of_port)
            continue;
        (void)rte_tel_data_start_dict(of_port);
        describe(of_port, port);
        (void)rte_tel_data_add_dict_container(d, node_port_word(word, node->config, port), of_port, 0);
    }
    return 0;
}

static void add_to_dict(void *d, const char *name, uint64_t value)
{
    add_count(d, name, value);
}

static void describe_port(struct rte_tel_data *d, unsigned port)
{
    char speed[DEVICE_SPEED_TEXT];
    (void)rte_tel_data_add_dict_string(d, "device", node->config->port[port].device);
    add_count(d, "lcore", node->core[node->owner[port]]->lcore);
    add_count(d, "carrier", atomic_load(&node->carrier) >> port & 1);
    add_count(d, "up", atomic_load(&node->up) >> port & 1);
    (void)rte_tel_data_add_dict_string(d, "speed", device_speed(node->port[port].device, speed));
    node_counts_of_port(node, port, add_to_dict, d);
    struct rte_tel_data *extended = rte_tel_data_alloc();
    if (!extended)
        return;
    (void)rte_tel_data_start_dict(extended);
    device_counts_extended(node->port[port].device, add_to_dict, extended);
    (void)rte_tel_data_add_dict_container(d, "xstats", extended, 0);
}

static int ports(const char *command, const char *parameters, struct rte_tel_data *d)
{
    (void)command;
    return by_port(d, parameters, describe_port);
}

static void describe_credits(struct rte_tel_data *d, unsigned port)
{
    const struct hx_credit_link *l = &node->port[port].cable.link;
    add_count(d, "open", l->open);
    add_count(d, "sessions", l->sessions);
    add_count(d, "suspected", l->suspected);
    for (unsigned vc = 0; vc < l->vcs; vc++) {
        char name[24];
        (void)snprintf(name, sizeof name, "room%u", vc);
        add_count(d, name, node_seen_blocks(&l->tx[vc].limit) - node_seen_blocks(&l->tx[vc].sent));
        (void)snprintf(name, sizeof name, "held%u", vc);
        add_count(d, name, node_seen_blocks(&l->rx[vc].received) - node_seen_blocks(&l->rx[vc].freed));
        (void)snprintf(name, sizeof name, "written_off%u", vc);
        (void)rte_tel_data_add_dict_int(d, name, (int32_t)node_seen_blocks(&l->rx[vc].lost));
    }
}

static int credits(const char *command, const char *parameters, struct rte_tel_data *d)
{
    (void)command;
    return by_port(d, parameters, describe_credits);
}

/* Counts by their names, which end with NULL. */
static int describe_counts(struct rte_tel_data *d, const char *const *names, const uint64_t *counts)
{
    (void)rte_tel_data_start_dict(d);
    for (unsigned i = 0; names[i]; i++)
        add_count(d, names[i], counts[i]);
    return 0;
}

static int drops(const char *command, const char *parameters, struct rte_tel_data *d)
{
    (void)command;
    (void)parameters;
    uint64_t sums[HX_DROP_COUNT];
    node_drops(node, sums);
    return describe_counts(d, hx_drop_names, sums);
}

static int stalls(const char *command, const char *parameters, struct rte_tel_data *d)
{
    (void)command;
    (void)parameters;
    uint64_t sums[HX_STALL_COUNT];
    node_stalls(node, sums);
    return describe_counts(d, hx_stall_names, sums);
}

/* Adds the ports that a packet for (gx, gy) may take, by input port. */
static int route(const char *command, const char *parameters, struct rte_tel_data *d)
{
    char why[HX_WHY_TEXT];
    (void)command;
    struct hx_coordinate to;
    const struct hx_geometry *g = &node->config->g;
    if (!parameters || hx_value_coordinate(parameters, &to, why) || to.addr_hi >= g->columns || to.addr_lo >= g->rows)
        return -1;
    struct node_routes routes;
    node_routes_build(node, &routes);
    (void)rte_tel_data_start_dict(d);
    for (unsigned input = 0; input < node->config->ports; input++) {
        char from[HX_NAME_BYTES];
        char outputs[HX_MAX_RADIX * 4] = "";
        size_t used = 0;
        uint64_t set = hx_route_candidates(&routes.route, input, routes.route.is_router, to.addr_hi, to.addr_lo);
        for (; set; set &= set - 1) {
            char word[HX_NAME_BYTES];
            (void)node_port_word(word, node->config, (unsigned)__builtin_ctzll(set));
            used += (size_t)snprintf(outputs + used, sizeof outputs - used, "%s%.8s", used ? "," : "", word);
        }
        (void)rte_tel_data_add_dict_string(d, node_port_word(from, node->config, input), outputs);
    }
    node_routes_free(&routes);
    return 0;
}

bool telemetry_open(struct node *n)
{
    node = n;
    return rte_telemetry_register_cmd("/hxmesh/ports", ports,
                                      "Ports: device, link and counts. Parameter: one port, or none for all") == 0 &&
           rte_telemetry_register_cmd(
               "/hxmesh/credits", credits,
               "Credit of each port and VC, in blocks of 256 B. Parameter: one port, or none for all") == 0 &&
           rte_telemetry_register_cmd("/hxmesh/drops", drops, "Packets dropped, by reason") == 0 &&
           rte_telemetry_register_cmd("/hxmesh/stalls", stalls, "Packets that began to wait, by cause") == 0 &&
           rte_telemetry_register_cmd("/hxmesh/route", route,
                                      "Ports a packet may take, by the port it came in by. Parameters: gx,gy") == 0;
}
