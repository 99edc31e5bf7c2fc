/* support_endpoint.h - a trial of endpoints: a cloud (support_loopback.h) with common settings, and a gate that
 * counts packets and loses those that the test names. */
#ifndef HXMESH_TESTS_SUPPORT_ENDPOINT_H
#define HXMESH_TESTS_SUPPORT_ENDPOINT_H

#include "tests/support/loopback/support_loopback.h"

enum {
    JOB = 9,
    TIMEOUT_TURNS = 50,
    UNREACHABLE_TURNS = 400,
    RETRIES = 5,
    FULL = 8192,
    LONG = 100000 /* turns */,
    NO_END = 0xFFFF
};

/* Counters and settings of the gate. */
struct trial_gate {
    unsigned kinds[6];      /* packets that entered, by kind */
    unsigned offsets[4096]; /* data packets, by offset */
    unsigned planes[HX_MAX_PLANES];
    unsigned lose_kind;
    unsigned lose_first;      /* packets of lose_kind to lose */
    unsigned lose_to;         /* only packets to this end; NO_END: to any */
    unsigned lose_below;      /* only packets below this offset */
    unsigned astray;          /* data and probes go to this end instead; NO_END: none */
    bool dead[HX_MAX_PLANES]; /* planes that lose everything */
    uint8_t kept[HX_MAX_FRAME];
    struct cloud_frame copy; /* the first acknowledgement */
    bool withholds;          /* data packet 0 is withheld until it is put back */
    uint8_t late[HX_MAX_FRAME];
    struct cloud_frame withheld;
};

extern struct cloud cloud;
extern struct trial_gate gate;

/* Eight sends, a checksum, incarnation 1. */
struct hx_endpoint_config trial_config(unsigned planes);
/* A cloud of ends of that configuration, without a gate. */
void trial_start(unsigned ends, unsigned planes);
/* Sends a message that the endpoint must accept; returns its number. */
unsigned trial_send(unsigned from, unsigned to, uint64_t bytes);
const struct message *trial_message(unsigned number);
void trial_turns(unsigned count);
/* Runs until nothing is in flight; every message must have arrived. */
void trial_finish(void);

/* Resets the gate: it counts, and loses nothing. */
void trial_watch(void);
/* The same, and it loses all data packets to this end (NO_END: any) below this offset. */
void trial_watch_losing_data(unsigned to, unsigned below);
/* The gate itself, for tests with a gate of their own. */
bool trial_count_and_lose(struct cloud *c, struct cloud_frame *f);
/* Stops all departures from the network, or allows them. */
void trial_hold(bool yes);
/* Puts a copy of the packet into the network. */
void trial_put_back(const struct cloud_frame *f);
struct hx_header trial_read(const struct cloud_frame *f);
void trial_rewrite(struct cloud_frame *f, const struct hx_header *h);

#endif
