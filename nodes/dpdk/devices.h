/* devices.h - opens ethdevs by name, checks and configures them with one queue per direction, starts them. */
#ifndef DPDK_NODE_DEVICES_H
#define DPDK_NODE_DEVICES_H

#include "device_limits.h"

#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <stdbool.h>
#include <stdint.h>

/* Opens the device `name`, without starting it. `where`: the port, for errors. Returns false with a problem: there is
 * none, or it cannot carry the frames. */
bool device_open(const char *where, const char *name, const struct device_needs *needs, uint16_t *device,
                 struct hx_problem *problem);

/* Makes two devices, joined back to back by rings in memory. `frames`: in flight per direction. Exits with an error. */
void device_pair(const char *const names[2], uint16_t ends[2], uint32_t frames, const struct device_needs *needs);

void device_pair_close(const char *const names[2], const uint16_t ends[2]);

enum device_start {
    DEVICE_STARTED,
    DEVICE_WAITS,  /* to be retried: a connecting memif starts only while the other side listens */
    DEVICE_REFUSED /* with a problem; it is stopped */
};
/* Starts a device, and sets its modes (device_modes.h). */
enum device_start device_start(const char *where, uint16_t device, bool isolated, struct hx_problem *problem);
/* Stops a connecting memif, which must be restarted to find its other side. Returns false for other devices. No core
 * may poll it. */
bool device_stop_to_retry(uint16_t device);
void device_close(uint16_t device);
/* Closes a device that is gone, and frees its name for one that comes back. No core may poll it. */
void device_remove(uint16_t device);
/* Asks EAL for a device that was removed, "net_memif0,role=client,...". */
void device_probe(const char *arguments);
/* True if the device is started and its link is up. */
bool device_is_up(uint16_t device);

/* Returns "100 Gb/s", with ", half duplex" if it is, or "unknown": of the link. */
enum { DEVICE_SPEED_TEXT = 40 };
const char *device_speed(uint16_t device, char text[DEVICE_SPEED_TEXT]);

#endif
