/* device_modes.h - modes of a NIC that would break a fabric: filters by address, pause frames, VLAN offloads.
 *
 * A device without such a mode is as good as one that has it off. */
#ifndef DPDK_NODE_DEVICE_MODES_H
#define DPDK_NODE_DEVICE_MODES_H

#include "device_limits.h"

/* Before a device is configured: it will take the EtherTypes of hxmesh alone, by rte_flow. All other frames go to the
 * kernel, if that shares the device. Returns false with a problem. */
bool device_modes_isolate(const struct device_place *at, uint16_t device, struct hx_problem *problem);

/* Sets the modes of a started device. `isolated`: device_modes_isolate() was called. Returns false with a problem: the
 * device refuses one. */
bool device_modes_set(const struct device_place *at, uint16_t device, bool isolated, struct hx_problem *problem);

/* Words for reports: "yes" or "no"; "off", "on" or "unknown". */
const char *device_promiscuous(uint16_t device);
const char *device_pause(uint16_t device);

#endif
