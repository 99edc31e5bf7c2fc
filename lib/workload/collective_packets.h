/* collective_packets.h - packets of messages on the links of a fabric: a short run, which decides between algorithms
 * with estimates near each other (collective_trial.h).
 *
 * A packet is an event at each node. It takes the output of its minimal routes with the most credit. A link carries one
 * packet after the other, without limits of buffers. Timing is that of hal/virtual/timing.h. */
#ifndef COLLECTIVE_PACKETS_H
#define COLLECTIVE_PACKETS_H

#include "base/time_heap.h"
#include "workload/collective_loads.h"

/* Messages of a host in flight on each plane (fabric-emu/virtual/driver.c), and packets that it has injected and not
 * yet sent (hal/virtual/hal_port.h). */
enum { PACKETS_SENDS = 64 * HX_MAX_PLANES, PACKETS_INJECTED = 16 };

struct packets_message {
    uint64_t cookie;   /* of the sender */
    uint32_t from, to; /* hosts */
    uint32_t bytes;
    uint32_t packets;      /* all */
    uint32_t begun, there; /* packets that left, and that arrived */
    uint32_t next_idle;
    uint16_t slot;    /* of the sender */
    uint16_t younger; /* slot of the next message to the same host; PACKETS_SENDS: none */
    uint8_t plane;    /* of its first packet, if planes have room alike */
    bool behind;      /* the message before it to the same host has packets left */
    bool acknowledges;
};

struct packets_packet {
    double tail; /* seconds: its last block is at the node */
    uint32_t message;
    uint32_t state; /* HX_NOWHERE: it is at the endpoint */
    uint16_t blocks;
    uint8_t plane;
    uint8_t place; /* in the sender's `leaves` until it leaves; PACKETS_INJECTED: none */
    uint32_t next_idle;
};

/* Set of slots of a host. */
struct packets_set {
    uint64_t word[HX_MAX_PLANES];
};

struct packets_host {
    struct packets_set busy, due;
    uint32_t message[PACKETS_SENDS];
    double injecting[HX_MAX_PLANES];                /* seconds: its own link is free */
    double leaves[HX_MAX_PLANES][PACKETS_INJECTED]; /* seconds: packets begin on their first links */
    double wake;                                    /* seconds of the earliest event */
    uint32_t injected, active;
    uint16_t turn[HX_MAX_PLANES];
};

struct packets {
    struct collective_loads *loads;
    struct packets_host *host; /* [hosts] */
    double *free;              /* [planes][ports]: seconds */
    struct time_heap events;
    struct packets_packet *packet;
    struct packets_message *message;
    size_t packets, packets_room, messages, messages_room;
    uint32_t idle_packet, idle_message; /* first of a list; HX_NOWHERE: none */
    uint32_t choices;                   /* between several outputs, so far */
    uint64_t hops;
    double now;
};

void packets_open(struct packets *p, struct collective_loads *loads);
void packets_close(struct packets *p);

/* Whether a host has a message fewer in flight than it may have. */
bool packets_may_send(const struct packets *p, uint32_t from);

/* Begins a message, if the sender's messages in flight allow it. */
bool packets_send(struct packets *p, uint32_t from, uint32_t to, uint32_t bytes, uint64_t cookie);

/* Goes on until a message, or its acknowledgement, has arrived. Returns false if nothing is in flight. */
bool packets_next(struct packets *p, struct packets_message *arrived);

/* Injects what a host may send, after packets_send() and packets_next(). */
void packets_inject(struct packets *p, uint32_t from);

#endif
