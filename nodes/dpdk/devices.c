/* devices.c - opens ethdevs (devices.h). */
#include "devices.h"
#include "base/error.h"
#include "hal/wire/interface.h"
#include "hal_port.h"

#include <errno.h>
#include <net/if.h>
#include <rte_alarm.h>
#include <rte_dev.h>
#include <rte_devargs.h>
#include <rte_eth_ring.h>
#include <rte_ring.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PACKET_RING_HEADER = 96 /* bytes that af_packet's ring adds to a frame */ };

/* ---- frame sizes ---- */

/* Returns the MTU of the kernel interface behind a device; 0: none, or unknown. */
static unsigned kernel_mtu(const struct rte_eth_dev_info *info)
{
    char name[IF_NAMESIZE];
    return info->if_index && if_indextoname(info->if_index, name) ? interface_mtu(name) : 0;
}

static bool is_memif(const struct rte_eth_dev_info *info)
{
    return strcmp(info->driver_name, "net_memif") == 0;
}

static const char *arguments_of(const struct rte_eth_dev_info *info)
{
    const struct rte_devargs *devargs = info->device ? rte_dev_devargs(info->device) : NULL;
    return devargs && devargs->args ? devargs->args : "";
}

/* Returns the number behind `key` in a device's arguments, or `otherwise`. */
static unsigned argument(const struct rte_eth_dev_info *info, const char *key, unsigned otherwise)
{
    const char *at = strstr(arguments_of(info), key);
    return at ? (unsigned)strtoul(at + strlen(key), NULL, 10) : otherwise;
}

/* True for the connecting end of a memif, which is its default. */
static bool connects(const struct rte_eth_dev_info *info)
{
    const char *arguments = arguments_of(info);
    return is_memif(info) && !strstr(arguments, "role=server") && !strstr(arguments, "role=master");
}

/* Refuses an abstract socket, the default of a memif: it has neither owner nor mode. */
static void check_socket(const char *where, const char *name, const struct rte_eth_dev_info *info)
{
    if (is_memif(info) && !strstr(arguments_of(info), "socket-abstract=no"))
        hx_die(HX_EXIT_CONFIG, where,
               "%s: every user of this machine could connect to its socket, which is abstract (--vdev=%s,...,"
               "socket-abstract=no)",
               name, name);
}

static void check_packet_socket(const char *where, const char *name, const struct rte_eth_dev_info *info, unsigned mtu)
{
    char interface[IF_NAMESIZE] = "?";
    unsigned has = kernel_mtu(info);
    (void)if_indextoname(info->if_index, interface);
    if (has < mtu)
        hx_die(HX_EXIT_ENVIRONMENT, where, "%s: interface %s has an MTU of %u, frames need %u (ip link set %s mtu %u)",
               name, interface, has, mtu, interface, mtu);
    unsigned frame = argument(info, "framesz=", 2048);
    if (frame < mtu + RTE_ETHER_HDR_LEN + PACKET_RING_HEADER)
        hx_die(HX_EXIT_ENVIRONMENT, where,
               "%s: its ring has frames of %u bytes, %u are needed (--vdev=%s,...,"
               "framesz=%u,blocksz=%u,framecnt=512)",
               name, frame, mtu + RTE_ETHER_HDR_LEN + PACKET_RING_HEADER, name, mtu > DPDK_MTU ? 8448U : 8352U,
               mtu > DPDK_MTU ? 135168U : 1069056U);
}

/* Checks that frames fit. Returns the MTU to configure; 0: keep the device's. Exits with an error.
 *
 * The MTU that some devices declare (DPDK 22.11) is not the one they carry: memif chains buffers, and a packet socket
 * has its interface's. */
static uint32_t mtu_for(const char *where, const char *name, const struct rte_eth_dev_info *info, unsigned mtu)
{
    if (is_memif(info))
        return 0;
    if (strcmp(info->driver_name, "net_af_packet") == 0) {
        check_packet_socket(where, name, info, mtu);
        return 0;
    }
    if (info->max_mtu >= mtu && info->max_rx_pktlen >= mtu + RTE_ETHER_HDR_LEN)
        return mtu;
    unsigned most = info->max_mtu;
    if (most > info->max_rx_pktlen - RTE_ETHER_HDR_LEN - RTE_ETHER_CRC_LEN)
        most = info->max_rx_pktlen - RTE_ETHER_HDR_LEN - RTE_ETHER_CRC_LEN;
    hx_die(HX_EXIT_ENVIRONMENT, where,
           "%s (%s) carries an MTU of %u at most, frames need %u (another device; or --mtu %u in a "
           "fabric with messages that short)",
           name, info->driver_name, most, mtu, most);
}

/* ---- open ---- */

static void refuse(const char *where, const char *name, const char *what, int error)
{
    hx_die(HX_EXIT_ENVIRONMENT, where, "%s: %s: %s", name, what, strerror(error < 0 ? -error : error));
}

static void configure(const char *where, const char *name, uint16_t device, const struct rte_eth_dev_info *info,
                      uint32_t mtu, const struct device_needs *needs)
{
    struct rte_eth_conf conf = {.rxmode = {.mtu = mtu}};
    /* No offload knows these frames, and one queue needs no RSS. Fast free applies if all mbufs are of one pool. */
    conf.txmode.offloads = needs->foreign ? 0 : info->tx_offload_capa & RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE;
    uint16_t rx = (uint16_t)needs->queue;
    uint16_t tx = (uint16_t)needs->queue;
    int socket = rte_eth_dev_socket_id(device);
    int error = rte_eth_dev_configure(device, 1, 1, &conf);
    if (error)
        refuse(where, name, "cannot be configured", error);
    (void)rte_eth_dev_adjust_nb_rx_tx_desc(device, &rx, &tx);
    error = rte_eth_rx_queue_setup(device, 0, rx, (unsigned)socket, NULL, needs->pool);
    error = error ? error : rte_eth_tx_queue_setup(device, 0, tx, (unsigned)socket, NULL);
    if (error)
        refuse(where, name, "has no queues", error);
}

uint16_t device_open(const char *where, const char *name, const struct device_needs *needs)
{
    uint16_t device;
    struct rte_eth_dev_info info;
    if (rte_eth_dev_get_port_by_name(name, &device) != 0)
        hx_die(HX_EXIT_CONFIG, where, "there is no device '%s' (EAL arguments: -a PCI-ADDRESS or --vdev=%s,...)", name,
               name);
    int error = rte_eth_dev_info_get(device, &info);
    if (error)
        refuse(where, name, "reports no properties", error);
    check_socket(where, name, &info);
    configure(where, name, device, &info, mtu_for(where, name, &info, needs->mtu), needs);
    return device;
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
        ends[end] = (uint16_t)device;
        configure(names[end], names[end], ends[end], &info, needs->mtu, needs);
    }
}

/* ---- start, stop, close ----
 *
 * EAL's interrupt thread also opens and closes a memif, when its other side comes or goes, without locks (DPDK 22.11).
 * So these functions run in that thread. */

struct task {
    int (*run)(uint16_t device);
    uint16_t device;
    int result;
    sem_t done;
};

static void run_task(void *task)
{
    struct task *t = task;
    t->result = t->run(t->device);
    (void)sem_post(&t->done);
}

static int in_interrupt_thread(int (*run)(uint16_t), uint16_t device)
{
    struct task t = {.run = run, .device = device};
    if (sem_init(&t.done, 0, 0) != 0 || rte_eal_alarm_set(1, run_task, &t) != 0)
        return run(device);
    while (sem_wait(&t.done) != 0)
        ;
    (void)sem_destroy(&t.done);
    return t.result;
}

static int start(uint16_t device)
{
    return rte_eth_dev_start(device);
}

static int stop(uint16_t device)
{
    return rte_eth_dev_stop(device);
}

static int stop_and_close(uint16_t device)
{
    (void)rte_eth_dev_stop(device);
    return rte_eth_dev_close(device);
}

bool device_start(const char *where, uint16_t device)
{
    char name[RTE_ETH_NAME_MAX_LEN] = "?";
    struct rte_eth_dev_info info;
    int error = in_interrupt_thread(start, device);
    if (error == 0) {
        (void)rte_eth_promiscuous_enable(device); /* frames carry coordinates, not the device's address */
        return true;
    }
    (void)rte_eth_dev_get_name_by_port(device, name);
    if (rte_eth_dev_info_get(device, &info) != 0 || !connects(&info))
        refuse(where, name, "cannot be started", error);
    return false;
}

bool device_stop_to_retry(uint16_t device)
{
    struct rte_eth_dev_info info;
    return rte_eth_dev_info_get(device, &info) == 0 && connects(&info) && in_interrupt_thread(stop, device) == 0;
}

void device_close(uint16_t device)
{
    struct rte_eth_dev_info info;
    bool ours = rte_eth_dev_info_get(device, &info) == 0 && strcmp(info.driver_name, "net_ring") == 0;
    if (!ours) {
        (void)in_interrupt_thread(stop_and_close, device);
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
