/* support_bridge.h - a fabric of two accelerators of which the eastern is elsewhere: its bridge, a wire made here with
 * the peer at its end, and the western neighbour in shared memory. */
#ifndef HXMESH_TESTS_SUPPORT_BRIDGE_H
#define HXMESH_TESTS_SUPPORT_BRIDGE_H

#include "fabric-emu/live/bridge.h"
#include "fabric-emu/live/nodes.h"

enum { BENCH_FRAMES = 2048, BENCH_CREDITS = 512, BENCH_STEP_NS = 1000000 };

struct bench_frame {
    uint32_t bytes;
    uint8_t data[WIRE_MAX_FRAME];
};

struct bench_tube {
    unsigned first, last;
    struct bench_frame *frame; /* [BENCH_FRAMES] */
};

struct bench_line {
    bool connected;
    unsigned room;                 /* frames the wire takes */
    const struct hx_auth_key *key; /* what the peer seals its credit frames with; NULL: it does not */
    uint64_t authenticated;        /* the number of its last */
    struct bench_tube in, out;
};
extern struct bench_line bench_line;

struct bench {
    struct fab_fabric f;
    struct traffic traffic;
    struct workload_plan workload;
    struct shm_clock clock;
    struct wire wire[HX_CABLE_PORTS];
    struct worker w;
    struct bridge *b;
    struct node *west;
    struct hx_credit_link peer;
    uint64_t drawn; /* the peer's */
    uint64_t now;
};

int bench_set_up(void **state);
int bench_tear_down(void **state);

struct fab_cable *bench_cable(const struct bench *b);
/* A millisecond goes by. Returns what the bridge's step does. */
unsigned bench_step(struct bench *b);
/* Puts a frame on the wire. */
void bench_put(struct bench_tube *t, const uint8_t *data, uint32_t bytes);
void bench_put_credit(struct hx_credit_frame c);
/* Returns bytes. All bytes of the payload are `number`. */
uint32_t bench_make_frame(uint8_t *frame, uint32_t number, uint32_t length, unsigned vc, unsigned hops);

/* The peer, at the wire's other end: it begins anew, */
void bench_peer_comes(struct bench *b);
void bench_peer_tells(struct bench *b);
/* Takes the next data frame; false: none. Credit frames are taken in on the way. */
bool bench_peer_takes(struct bench *b, struct hx_header *h, struct bench_frame *data);
void bench_peer_sends(uint32_t number, uint32_t length, unsigned vc);
/* Until both count together. */
void bench_meet(struct bench *b);

/* The neighbour. */
void bench_west_sends(struct bench *b, uint32_t number, uint32_t length, unsigned vc, unsigned hops);
/* Takes the next packet of a VC; UINT32_MAX: none. Its payload is looked at. */
uint32_t bench_west_takes(struct bench *b, unsigned vc);

void bench_loses_no_buffer(const struct bench *b);

#endif
