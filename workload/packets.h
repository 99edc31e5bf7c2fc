/* packets.h - what programs on the hosts send each other: IP packets from and for an interface of each host.
 *
 * Each host has a TUN, whose other end programs have (fabric-emu/live/netns_holder.h). What is read there goes as messages of
 * the endpoint, what arrives is written there; packets.c says how. */
#ifndef PACKETS_H
#define PACKETS_H

#include "topology/fabric.h"

#include <stdbool.h>

enum {
    PACKETS_MESSAGE = 65536,  /* bytes of packets that go as one message, at most */
    PACKETS_MOST_MTU = 65520, /* of an interface: one packet is no longer than a message */
    PACKETS_LEAST_MTU = 1280,
    PACKETS_MTU = 8192 /* unless somebody says otherwise: one packet of the fabric carries one of IP */
};

/* The interfaces of a run. Each worker has a copy of its own of what is told here, but the same descriptors. */
struct packets {
    const struct hx_fabric *g;
    int *tun; /* [hosts]: non-blocking; -1: the host has none */
    /* [hosts]: something may have come since the last time that nothing was there. Set by who waits on the descriptors,
     * cleared by who reads */
    bool *readable;
};

#endif
