/* devices.c - opens ethdevs (devices.h). */
#include "devices.h"
#include "device_modes.h"

#include <errno.h>
#include <rte_alarm.h>
#include <rte_dev.h>
#include <rte_eth_ring.h>
#include <rte_ring.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- open ---- */

static bool refuse(const struct device_place *at, const char *what, int error, struct hx_problem *problem)
{
    return hx_fail(problem, HX_EXIT_ENVIRONMENT, at->where, "%s: %s: %s", at->name, what,
                   strerror(error < 0 ? -error : error));
}

/* A device that fills several of its buffers with a frame would pass it on in pieces. */
static bool check_buffers(const struct device_place *at, uint16_t device, struct hx_problem *problem)
{
    struct rte_eth_rxq_info queue;
    return rte_eth_rx_queue_info_get(device, 0, &queue) != 0 || !queue.scattered_rx ||
           hx_fail(problem, HX_EXIT_ENVIRONMENT, at->where,
                   "%s: brings a frame in several buffers, as its own are small (another driver, or a smaller --mtu)",
                   at->name);
}

/* No offload knows these frames, and one queue needs no RSS. Fast free applies if all mbufs are of one pool and each is
 * a frame. */
static uint64_t transmit_offloads(const struct rte_eth_dev_info *info, const struct device_needs *needs)
{
    if (needs->chained)
        return RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
    return needs->foreign ? 0 : info->tx_offload_capa & RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE;
}

/* `mtu` 0: the device keeps its own. */
static bool configure(const struct device_place *at, uint16_t device, const struct rte_eth_dev_info *info, uint32_t mtu,
                      const struct device_needs *needs, struct hx_problem *problem)
{
    const struct rte_eth_conf conf = {.rxmode = {.mtu = mtu}, .txmode = {.offloads = transmit_offloads(info, needs)}};
    uint16_t rx = (uint16_t)needs->queue;
    uint16_t tx = (uint16_t)needs->queue;
    const int socket = rte_eth_dev_socket_id(device);
    int error = rte_eth_dev_configure(device, 1, 1, &conf);
    if (error)
        return refuse(at, "cannot be configured", error, problem);
    (void)rte_eth_dev_adjust_nb_rx_tx_desc(device, &rx, &tx);
    error = rte_eth_rx_queue_setup(device, 0, rx, (unsigned)socket, NULL, needs->pool);
    error = error ? error : rte_eth_tx_queue_setup(device, 0, tx, (unsigned)socket, NULL);
    return error ? refuse(at, "has no queues", error, problem) : true;
}

bool device_open(const char *where, const char *name, const struct device_needs *needs, uint16_t *device,
                 struct hx_problem *problem)
{
    const struct device_place at = {where, name};
    struct rte_eth_dev_info info;
    uint32_t mtu;
    uint16_t found;
    if (rte_eth_dev_get_port_by_name(name, &found) != 0)
        return hx_fail(problem, HX_EXIT_CONFIG, where,
                       "there is no device '%s' (EAL arguments: -a PCI-ADDRESS or --vdev=%s,...)", name, name);
    const int error = rte_eth_dev_info_get(found, &info);
    if (error)
        return refuse(&at, "reports no properties", error, problem);
    *device = found;
    return device_limits_check(&at, &info, needs, &mtu, problem) &&
           (!needs->isolated || device_modes_isolate(&at, found, problem)) &&
           configure(&at, found, &info, mtu, needs, problem);
}

static struct rte_ring *ring(const char *name, uint32_t frames)
{
    struct rte_ring *r =
        rte_ring_create(name, rte_align32pow2(frames + 1), (int)rte_socket_id(), RING_F_SP_ENQ | RING_F_SC_DEQ);
    if (!r)
        hx_die(HX_EXIT_ENVIRONMENT, name, "no memory for a ring of %u frames", frames);
    return r;
}

void device_pair(const char *const names[2], uint16_t ends[2], uint32_t frames, const struct device_needs *needs)
{
    struct rte_ring *rings[2] = {ring(names[0], frames), ring(names[1], frames)};
    for (unsigned end = 0; end < 2; end++) {
        struct rte_eth_dev_info info;
        int device = rte_eth_from_rings(names[end], &rings[end], 1, &rings[1 - end], 1, rte_socket_id());
        if (device < 0 || rte_eth_dev_info_get((uint16_t)device, &info) != 0)
            hx_die(HX_EXIT_ENVIRONMENT, names[end], "no memory for two ends of a ring");
        struct hx_problem problem;
        ends[end] = (uint16_t)device;
        if (!configure(&(struct device_place){names[end], names[end]}, ends[end], &info, needs->mtu, needs, &problem))
            hx_die_of(&problem);
    }
}

/* ---- start, stop, close ----
 *
 * EAL's interrupt thread also opens and closes a memif, when its other side comes or goes, without locks (DPDK 22.11).
 * So these functions run in that thread. */

struct task {
    int (*run)(const void *of);
    const void *of;
    int result;
    sem_t done;
};

static void run_task(void *task)
{
    struct task *t = task;
    t->result = t->run(t->of);
    (void)sem_post(&t->done);
}

static int in_interrupt_thread(int (*run)(const void *of), const void *of)
{
    struct task t = {.run = run, .of = of};
    if (sem_init(&t.done, 0, 0) != 0 || rte_eal_alarm_set(1, run_task, &t) != 0)
        return run(of);
    while (sem_wait(&t.done) != 0)
        ;
    (void)sem_destroy(&t.done);
    return t.result;
}

static int start(const void *device)
{
    return rte_eth_dev_start(*(const uint16_t *)device);
}

static int stop(const void *device)
{
    return rte_eth_dev_stop(*(const uint16_t *)device);
}

static int stop_and_close(const void *device)
{
    (void)stop(device);
    return rte_eth_dev_close(*(const uint16_t *)device);
}

static int probe(const void *arguments)
{
    return rte_dev_probe(arguments);
}

void device_probe(const char *arguments)
{
    (void)in_interrupt_thread(probe, arguments);
}

enum device_start device_start(const char *where, uint16_t device, bool isolated, struct hx_problem *problem)
{
    char name[RTE_ETH_NAME_MAX_LEN] = "?";
    const struct device_place at = {where, name};
    struct rte_eth_dev_info info;
    const int error = in_interrupt_thread(start, &device);
    (void)rte_eth_dev_get_name_by_port(device, name);
    if (error == 0 && check_buffers(&at, device, problem) && device_modes_set(&at, device, isolated, problem))
        return DEVICE_STARTED;
    if (error && rte_eth_dev_info_get(device, &info) == 0 && device_connects(&info))
        return DEVICE_WAITS;
    if (error)
        (void)refuse(&at, "cannot be started", error, problem);
    else
        (void)in_interrupt_thread(stop, &device);
    return DEVICE_REFUSED;
}

bool device_stop_to_retry(uint16_t device)
{
    struct rte_eth_dev_info info;
    return rte_eth_dev_info_get(device, &info) == 0 && device_connects(&info) &&
           in_interrupt_thread(stop, &device) == 0;
}

/* Removes what a device is a part of, as a port of a card, when none of its ports is open. */
static int close_and_remove(const void *device)
{
    struct rte_eth_dev_info info;
    uint16_t other;
    const int error = rte_eth_dev_info_get(*(const uint16_t *)device, &info);
    (void)stop_and_close(device);
    if (error)
        return error;
    RTE_ETH_FOREACH_DEV_OF(other, info.device)
    {
        return 0;
    }
    return rte_dev_remove(info.device);
}

void device_remove(uint16_t device)
{
    (void)in_interrupt_thread(close_and_remove, &device);
}

void device_close(uint16_t device)
{
    struct rte_eth_dev_info info;
    bool ours = rte_eth_dev_info_get(device, &info) == 0 && strcmp(info.driver_name, "net_ring") == 0;
    if (!ours) {
        (void)in_interrupt_thread(stop_and_close, &device);
        return;
    }
    (void)rte_eth_dev_stop(device);
    (void)rte_dev_remove(info.device);
}

void device_pair_close(const char *const names[2], const uint16_t ends[2])
{
    for (unsigned end = 0; end < 2; end++)
        device_close(ends[end]);
    for (unsigned end = 0; end < 2; end++)
        rte_ring_free(rte_ring_lookup(names[end]));
}

bool device_is_up(uint16_t device)
{
    struct rte_eth_link link;
    return rte_eth_link_get_nowait(device, &link) == 0 && link.link_status == RTE_ETH_LINK_UP;
}

const char *device_speed(uint16_t device, char text[DEVICE_SPEED_TEXT])
{
    struct rte_eth_link link = {.link_speed = RTE_ETH_SPEED_NUM_NONE};
    const bool known = rte_eth_dev_is_valid_port(device) && rte_eth_link_get_nowait(device, &link) == 0 &&
                       link.link_speed != RTE_ETH_SPEED_NUM_NONE && link.link_speed != RTE_ETH_SPEED_NUM_UNKNOWN;
    const char *half = link.link_duplex == RTE_ETH_LINK_HALF_DUPLEX ? ", half duplex" : "";
    if (known)
        (void)snprintf(text, DEVICE_SPEED_TEXT, "%g Gb/s%s", link.link_speed / 1000.0, half);
    else
        (void)snprintf(text, DEVICE_SPEED_TEXT, "unknown");
    return text;
}
