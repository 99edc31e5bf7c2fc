/* device_watch.h - a device that leaves, and comes back: an unplugged card, a function that its host takes away.
 *
 *     EAL's interrupt thread --- gone ---> control: no carrier; when no core polls it: device_remove()
 *                                          every second: device_probe(), then it is opened and started as at first
 *
 * Announced by the driver (RTE_ETH_EVENT_INTR_RMV) or by its bus (RTE_DEV_EVENT_REMOVE, as of vfio-pci). */
#ifndef DPDK_NODE_DEVICE_WATCH_H
#define DPDK_NODE_DEVICE_WATCH_H

#include <rte_dev.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct device_watch {
    char *arguments;                   /* of the device, for EAL: "net_memif0,role=client,..."; NULL: not watched */
    char parent[RTE_DEV_NAME_MAX_LEN]; /* the bus's device */
    _Atomic bool gone;
};

/* Once, before the first watch begins. */
void device_watch_open(void);

/* `device` is open. The watch must outlive it. */
void device_watch_begin(struct device_watch *w, uint16_t device);

void device_watch_free(struct device_watch *w);

#endif
