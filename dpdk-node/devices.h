/* devices.h - ethdevs: found by name, checked for what frames need, configured with one queue each way, started. */
#ifndef DPDK_NODE_DEVICES_H
#define DPDK_NODE_DEVICES_H

#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <stdbool.h>
#include <stdint.h>

/* What a device is opened with. */
struct device_needs {
    unsigned mtu;   /* bytes behind the Ethernet header of the largest frame */
    unsigned queue; /* descriptors, where the device lets us choose */
    struct rte_mempool *pool;
    bool foreign; /* frames of other pools may come by one of the node's ports */
};

/* Opens the device `name` for the port that errors call `where`, but does not start it; dies with one line if there is
 * none, or if it does not carry the frames. */
uint16_t device_open(const char *where, const char *name, const struct device_needs *needs);

/* Two devices of these names joined back to back by rings in memory. `frames`: that may be under way each way. */
void device_pair(const char *const names[2], uint16_t ends[2], uint32_t frames, const struct device_needs *needs);

void device_pair_close(const char *const names[2], const uint16_t ends[2]);

/* False: not now. A memif that connects cannot start before the other side listens. Dies of everything else. */
bool device_start(const char *where, uint16_t device);
/* Stops a device that has lost its other side, or never had it, if it must be started anew to look for it again: a
 * memif that connects. Cores must not poll it any more. */
bool device_stop_to_retry(uint16_t device);
void device_close(uint16_t device);
/* Started, and its link is up. */
bool device_is_up(uint16_t device);

#endif
