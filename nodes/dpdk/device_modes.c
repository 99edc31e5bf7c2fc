/* device_modes.c - promiscuous mode, pause frames, VLAN tags, isolation (device_modes.h). */
#include "device_modes.h"
#include "hxmesh/frame.h"

#include <errno.h>
#include <net/if.h>
#include <rte_ethdev.h>
#include <rte_flow.h>
#include <stdio.h>
#include <string.h>

static const char *words_of(int error)
{
    return error ? strerror(error < 0 ? -error : error) : "the device says nothing of it";
}

static const char *interface_of(uint16_t device, char name[IF_NAMESIZE])
{
    struct rte_eth_dev_info info;
    if (rte_eth_dev_info_get(device, &info) == 0 && info.if_index && if_indextoname(info.if_index, name))
        return name;
    (void)snprintf(name, IF_NAMESIZE, "IF");
    return name;
}

/* ---- addresses ---- */

/* Frames carry coordinates in place of addresses. */
static bool take_all_addresses(const struct device_place *at, uint16_t device, struct hx_problem *problem)
{
    const int error = rte_eth_promiscuous_enable(device);
    if (error == 0 && rte_eth_promiscuous_get(device) == 1)
        return true;
    return hx_fail(
        problem, HX_EXIT_ENVIRONMENT, at->where,
        "%s: refuses promiscuous mode, so it would drop every frame, for their addresses are coordinates: %s "
        "(a VF: `ip link set PF vf N trust on`, and spoofchk off)",
        at->name, words_of(error));
}

const char *device_promiscuous(uint16_t device)
{
    return rte_eth_promiscuous_get(device) == 1 ? "yes" : "no";
}

/* ---- pause frames ---- */

static bool has_pause(int error, const struct rte_eth_fc_conf *flow)
{
    return error == 0 && flow->mode != RTE_ETH_FC_NONE;
}

/* Credits are the flow control. A paused cable would stop all its VCs together. */
static bool stop_pause_frames(const struct device_place *at, uint16_t device, struct hx_problem *problem)
{
    char interface[IF_NAMESIZE];
    struct rte_eth_fc_conf flow = {.mode = RTE_ETH_FC_NONE};
    if (!has_pause(rte_eth_dev_flow_ctrl_get(device, &flow), &flow))
        return true;
    flow.mode = RTE_ETH_FC_NONE;
    flow.autoneg = 0;
    const int error = rte_eth_dev_flow_ctrl_set(device, &flow);
    if (error == 0 && !has_pause(rte_eth_dev_flow_ctrl_get(device, &flow), &flow))
        return true;
    (void)interface_of(device, interface);
    return hx_fail(problem, HX_EXIT_ENVIRONMENT, at->where,
                   "%s: has pause frames on, which stop all VCs of a cable, and does not switch them off: %s "
                   "(ethtool -A %s autoneg off rx off tx off)",
                   at->name, words_of(error), interface);
}

const char *device_pause(uint16_t device)
{
    struct rte_eth_fc_conf flow = {.mode = RTE_ETH_FC_NONE};
    const int error = rte_eth_dev_flow_ctrl_get(device, &flow);
    return error ? "unknown" : has_pause(error, &flow) ? "on" : "off";
}

/* ---- isolation ---- */

bool device_modes_isolate(const struct device_place *at, uint16_t device, struct hx_problem *problem)
{
    struct rte_flow_error why = {.message = NULL};
    const int error = rte_flow_isolate(device, 1, &why);
    return error == 0 ||
           hx_fail(problem, HX_EXIT_ENVIRONMENT, at->where,
                   "%s: takes all frames or none, it cannot be isolated by rte_flow: %s (without --isolate)", at->name,
                   why.message ? why.message : words_of(error));
}

static bool take_type(const struct device_place *at, uint16_t device, uint16_t type, struct hx_problem *problem)
{
    const struct rte_flow_item_eth of = {.type = rte_cpu_to_be_16(type)};
    const struct rte_flow_item_eth mask = {.type = RTE_BE16(0xffff)};
    const struct rte_flow_item pattern[] = {{.type = RTE_FLOW_ITEM_TYPE_ETH, .spec = &of, .mask = &mask},
                                            {.type = RTE_FLOW_ITEM_TYPE_END}};
    const struct rte_flow_action_queue queue = {.index = 0};
    const struct rte_flow_action actions[] = {{.type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &queue},
                                              {.type = RTE_FLOW_ACTION_TYPE_END}};
    const struct rte_flow_attr ingress = {.ingress = 1};
    struct rte_flow_error why = {.message = NULL};
    return rte_flow_create(device, &ingress, pattern, actions, &why) ||
           hx_fail(problem, HX_EXIT_ENVIRONMENT, at->where,
                   "%s: has no rule for frames of EtherType 0x%04x: %s (without --isolate)", at->name, type,
                   why.message ? why.message : "rte_flow says nothing of it");
}

/* ---- all ---- */

bool device_modes_set(const struct device_place *at, uint16_t device, bool isolated, struct hx_problem *problem)
{
    /* No frame of a fabric has a VLAN tag: a device that keeps this offload on does no harm. */
    (void)rte_eth_dev_set_vlan_offload(device, 0);
    if (!stop_pause_frames(at, device, problem))
        return false;
    if (!isolated)
        return take_all_addresses(at, device, problem);
    return take_type(at, device, HX_ETHERTYPE_DATA, problem) && take_type(at, device, HX_ETHERTYPE_CONTROL, problem);
}
