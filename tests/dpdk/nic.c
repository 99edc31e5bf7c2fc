/* nic.c - makes virtual devices of DPDK behave as NICs do, for tests: preloaded into hxmesh-dpdk.
 *
 *     NIC_PROMISCUOUS=refused   rte_eth_promiscuous_enable() fails
 *     NIC_PROMISCUOUS=ignored   it succeeds without effect, as a VF without trust may
 *     NIC_PAUSE=fixed           pause frames are on, and stay on;  NIC_PAUSE=on: they are on until switched off
 *     NIC_SCATTERED=1           frames arrive in several buffers
 *     NIC_MISSED=N              frames that the device lost for want of descriptors
 *     NIC_NUMA=N                NUMA node of each device
 *     NIC_FLOWS=FILE            rte_flow works; a line for each isolation and rule
 *     NIC_REMOVAL=FILE          each time FILE appears, it is deleted, and the devices report their removal */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <rte_ethdev.h>
#include <rte_flow.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *setting(const char *name)
{
    const char *value = getenv(name);
    return value ? value : "";
}

static bool is_set(const char *name, const char *to)
{
    return strcmp(setting(name), to) == 0;
}

/* The argument is a name. NOLINTNEXTLINE(bugprone-macro-parentheses) */
#define NEXT(function) ((__typeof__(&function))dlsym(RTLD_NEXT, #function))

/* ---- promiscuous mode ---- */

int rte_eth_promiscuous_enable(uint16_t port_id)
{
    return is_set("NIC_PROMISCUOUS", "refused") ? -EPERM : NEXT(rte_eth_promiscuous_enable)(port_id);
}

int rte_eth_promiscuous_get(uint16_t port_id)
{
    return is_set("NIC_PROMISCUOUS", "ignored") ? 0 : NEXT(rte_eth_promiscuous_get)(port_id);
}

/* ---- pause frames ---- */

static bool pause_is_off;

int rte_eth_dev_flow_ctrl_get(uint16_t port_id, struct rte_eth_fc_conf *fc_conf)
{
    if (is_set("NIC_PAUSE", ""))
        return NEXT(rte_eth_dev_flow_ctrl_get)(port_id, fc_conf);
    *fc_conf = (struct rte_eth_fc_conf){.mode = pause_is_off ? RTE_ETH_FC_NONE : RTE_ETH_FC_FULL, .autoneg = 1};
    return 0;
}

int rte_eth_dev_flow_ctrl_set(uint16_t port_id, struct rte_eth_fc_conf *fc_conf)
{
    (void)port_id;
    if (is_set("NIC_PAUSE", "fixed"))
        return -ENOTSUP;
    pause_is_off = fc_conf->mode == RTE_ETH_FC_NONE && !fc_conf->autoneg;
    return 0;
}

/* ---- buffers, counts, place ---- */

int rte_eth_rx_queue_info_get(uint16_t port_id, uint16_t queue_id, struct rte_eth_rxq_info *qinfo)
{
    const int error = NEXT(rte_eth_rx_queue_info_get)(port_id, queue_id, qinfo);
    if (!is_set("NIC_SCATTERED", "1"))
        return error;
    *qinfo = (struct rte_eth_rxq_info){.scattered_rx = 1};
    return 0;
}

int rte_eth_stats_get(uint16_t port_id, struct rte_eth_stats *stats)
{
    const int error = NEXT(rte_eth_stats_get)(port_id, stats);
    stats->imissed += strtoull(setting("NIC_MISSED"), NULL, 10);
    return error;
}

int rte_eth_dev_socket_id(uint16_t port_id)
{
    return is_set("NIC_NUMA", "") ? NEXT(rte_eth_dev_socket_id)(port_id) : (int)strtol(setting("NIC_NUMA"), NULL, 10);
}

/* ---- rte_flow ---- */

static bool write_flow(const char *line)
{
    FILE *out = is_set("NIC_FLOWS", "") ? NULL : fopen(setting("NIC_FLOWS"), "a");
    return out && fprintf(out, "%s\n", line) > 0 && fclose(out) == 0;
}

int rte_flow_isolate(uint16_t port_id, int set, struct rte_flow_error *error)
{
    return write_flow(set ? "isolate" : "share") ? 0 : NEXT(rte_flow_isolate)(port_id, set, error);
}

struct rte_flow *rte_flow_create(uint16_t port_id, const struct rte_flow_attr *attr,
                                 const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
                                 struct rte_flow_error *error)
{
    static struct rte_flow *some;
    char line[80];
    const struct rte_flow_item_eth *eth = pattern[0].spec;
    const struct rte_flow_action_queue *queue = actions[0].conf;
    (void)snprintf(line, sizeof line, "type %04x to queue %u", rte_be_to_cpu_16(eth->type), queue->index);
    if (attr->ingress && pattern[0].type == RTE_FLOW_ITEM_TYPE_ETH && actions[0].type == RTE_FLOW_ACTION_TYPE_QUEUE &&
        write_flow(line))
        return (struct rte_flow *)(void *)&some;
    return NEXT(rte_flow_create)(port_id, attr, pattern, actions, error);
}

/* ---- removal ---- */

enum { MOST_DEVICES = 32 };

static struct {
    rte_eth_dev_cb_fn call;
    void *of;
} leaving[MOST_DEVICES];

static void *watch(void *unused)
{
    const struct timespec tick = {.tv_nsec = 20000000};
    for (;; nanosleep(&tick, NULL)) {
        if (unlink(setting("NIC_REMOVAL")) != 0)
            continue;
        for (unsigned device = 0; device < MOST_DEVICES; device++)
            if (leaving[device].call)
                (void)leaving[device].call((uint16_t)device, RTE_ETH_EVENT_INTR_RMV, leaving[device].of, NULL);
    }
    return unused;
}

int rte_eth_dev_callback_register(uint16_t port_id, enum rte_eth_event_type event, rte_eth_dev_cb_fn cb_fn,
                                  void *cb_arg)
{
    static bool watches;
    pthread_t thread;
    if (event == RTE_ETH_EVENT_INTR_RMV && port_id < MOST_DEVICES) {
        leaving[port_id].call = cb_fn;
        leaving[port_id].of = cb_arg;
    }
    if (!is_set("NIC_REMOVAL", "") && !watches)
        watches = pthread_create(&thread, NULL, watch, NULL) == 0;
    return NEXT(rte_eth_dev_callback_register)(port_id, event, cb_fn, cb_arg);
}
