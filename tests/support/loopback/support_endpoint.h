/* support_endpoint.h - a trial of endpoints: a cloud (tests/support/loopback/support_loopback.h) with common settings,
 * and a gate that counts its packets and takes away those that the test names. */
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

/* What the gate counts and does. */
struct trial_gate {
    unsigned kinds[6];      /* packets that entered, by kind */
    unsigned offsets[4096]; /* data packets, by offset */
    unsigned planes[HX_MAX_PLANES];
    unsigned lose_kind;
    unsigned lose_first;      /* so many of that kind */
    unsigned lose_to;         /* only those to this end; NO_END: to any */
    unsigned lose_below;      /* only those below this offset */
    unsigned astray;          /* data and probes go to this end instead; NO_END: they do not */
    bool dead[HX_MAX_PLANES]; /* the plane loses everything */
    uint8_t kept[HX_MAX_FRAME];
    struct cloud_frame copy; /* the first acknowledgement */
    bool withholds;          /* data packet 0, until it is put back */
    uint8_t late[HX_MAX_FRAME];
    struct cloud_frame withheld;
};

extern struct cloud cloud;
extern struct trial_gate gate;

/* Eight sends, a checksum, incarnation 1. */
struct hx_endpoint_config trial_config(unsigned planes);
/* A cloud of ends of that configuration, without a gate. */
void trial_start(unsigned ends, unsigned planes);
/* A message that must be taken; its number. */
unsigned trial_send(unsigned from, unsigned to, uint64_t bytes);
const struct message *trial_message(unsigned number);
void trial_turns(unsigned count);
/* Until nothing is under way; every message must have arrived. */
void trial_finish(void);

/* The gate stands open and counts from now on. */
void trial_watch(void);
/* What it does, for a gate that does more. */
bool trial_count_and_lose(struct cloud *c, struct cloud_frame *f);
/* Nothing leaves the network any more, or all does. */
void trial_hold(bool yes);
/* A copy of the packet enters the network. */
void trial_put_back(const struct cloud_frame *f);
struct hx_header trial_read(const struct cloud_frame *f);
void trial_rewrite(struct cloud_frame *f, const struct hx_header *h);

#endif
