/* packets.h - IP packets that programs on the hosts exchange, through an interface of each host.
 *
 * Each host has a TUN device; programs use its other end (fabric-emu/live/netns_holder.h). Packets read there become
 * messages of the endpoint; packets that arrive are written there (packets.c). */
#ifndef PACKETS_H
#define PACKETS_H

#include "topology/fabric.h"

#include <stdbool.h>

enum {
    PACKETS_MESSAGE = 65536,  /* most bytes of packets in one message */
    PACKETS_MOST_MTU = 65520, /* of an interface: a packet fits into a message */
    PACKETS_LEAST_MTU = 1280,
    PACKETS_MTU = 8192 /* default: an IP packet fits into one packet of the fabric */
};

/* The interfaces of a run. Each worker has its own copy, with the same descriptors. */
struct packets {
    const struct hx_fabric *g;
    int *tun; /* [hosts]: non-blocking; -1: none */
    /* [hosts]: packets may have arrived. Set when the descriptor becomes readable, cleared when a read finds nothing */
    bool *readable;
};

#endif
