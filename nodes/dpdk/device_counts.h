/* device_counts.h - what devices count themselves: frames that they lost are in no count of the node. */
#ifndef DPDK_NODE_DEVICE_COUNTS_H
#define DPDK_NODE_DEVICE_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

/* Names for reports, and fields of struct rte_eth_stats. */
#define DEVICE_COUNTS(X)                                                                                               \
    X(device_rx_frames, ipackets)  /* frames received */                                                               \
    X(device_tx_frames, opackets)  /* frames sent */                                                                   \
    X(device_missed, imissed)      /* lost: no free descriptor, for a core was late */                                 \
    X(device_rx_errors, ierrors)   /* lost: damaged on the cable */                                                    \
    X(device_no_buffer, rx_nombuf) /* lost: no free mbuf */                                                            \
    X(device_tx_errors, oerrors)   /* not sent */
struct device_counts {
#define DEVICE_COUNT_MEMBER(name, of) uint64_t name;
    DEVICE_COUNTS(DEVICE_COUNT_MEMBER)
#undef DEVICE_COUNT_MEMBER
};

/* Adds the counts of a device; none of one that is gone, or counts nothing. */
void device_counts_add(struct device_counts *sum, uint16_t device);

/* Frames that it lost: missed, damaged, without buffer, not sent. */
uint64_t device_counts_lost(const struct device_counts *c);

/* Calls `visit` with each of a device's own counts (xstats) that is not 0. `name` is the driver's, for the call. */
void device_counts_extended(uint16_t device, void (*visit)(void *of, const char *name, uint64_t value), void *of);

#endif
