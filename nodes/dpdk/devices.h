/* devices.h - opens ethdevs by name, checks and configures them with one queue per direction, starts them. */
#ifndef DPDK_NODE_DEVICES_H
#define DPDK_NODE_DEVICES_H

#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <stdbool.h>
#include <stdint.h>

/* Settings of a device. */
struct device_needs {
    unsigned mtu;   /* bytes behind the Ethernet header of the largest frame */
    unsigned queue; /* descriptors, if the device allows a choice */
    struct rte_mempool *pool;
    bool foreign; /* frames of other pools may arrive at a port of the node */
};

/* Opens the device `name`, without starting it. `where`: the port, for errors. Exits with an error if there is none, or
 * if it cannot carry the frames. */
uint16_t device_open(const char *where, const char *name, const struct device_needs *needs);

/* Makes two devices, joined back to back by rings in memory. `frames`: in flight per direction. */
void device_pair(const char *const names[2], uint16_t ends[2], uint32_t frames, const struct device_needs *needs);

void device_pair_close(const char *const names[2], const uint16_t ends[2]);

/* Starts a device. Returns false if it must be retried: a connecting memif cannot start before the other side listens.
 * Exits with other errors. */
bool device_start(const char *where, uint16_t device);
/* Stops a connecting memif, which must be restarted to find its other side. Returns false for other devices. No core
 * may poll it. */
bool device_stop_to_retry(uint16_t device);
void device_close(uint16_t device);
/* True if the device is started and its link is up. */
bool device_is_up(uint16_t device);

#endif
