/* support_bridge.h - a fabric of two accelerators, the eastern one external: its bridge, a wire with the test's peer
 * at its end, and the western neighbour in shared memory. */
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
    unsigned room;                 /* frames that the wire can take */
    const struct hx_auth_key *key; /* key for authentication tags of the peer's credit frames; NULL: none */
    uint64_t authenticated;        /* number of its last authentication tag */
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
    uint64_t drawn; /* RNG state of the peer */
    uint64_t now;
};

int bench_set_up(void **state);
int bench_tear_down(void **state);

struct fab_cable *bench_cable(const struct bench *b);
/* Advances a millisecond; returns the result of the bridge's step. */
unsigned bench_step(struct bench *b);
/* Puts a frame on the wire. */
void bench_put(struct bench_tube *t, const uint8_t *data, uint32_t bytes);
void bench_put_credit(struct hx_credit_frame c);
/* Makes a frame with `number` in every payload byte; returns its bytes. */
uint32_t bench_make_frame(uint8_t *frame, uint32_t number, uint32_t length, unsigned vc, unsigned hops);

/* The peer at the wire's other end, which begins a session here. */
void bench_peer_starts(struct bench *b);
void bench_peer_sends_credit(struct bench *b);
/* Takes the next data frame; false: none. Takes credit frames before it, and ignores
 * notices. */
bool bench_peer_takes(struct bench *b, struct hx_header *h, struct bench_frame *data);
void bench_peer_sends(uint32_t number, uint32_t length, unsigned vc);
/* Runs until both ends have a session. */
void bench_meet(struct bench *b);

/* The western neighbour. */
void bench_west_sends(struct bench *b, uint32_t number, uint32_t length, unsigned vc, unsigned hops);
/* Takes the next packet of a VC and checks its payload; UINT32_MAX: none. */
uint32_t bench_west_takes(struct bench *b, unsigned vc);

void bench_loses_no_buffer(const struct bench *b);

#endif
