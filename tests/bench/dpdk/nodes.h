/* nodes.h - nodes of the DPDK platform as a benchmark runs them: over net_null, over net_ring, and at half load. */
#ifndef DPDK_NODES_H
#define DPDK_NODES_H

#include "hal/dpdk/port.h"
#include "hxmesh/frame.h"
#include "hxmesh/route.h"

#include <stdbool.h>
#include <stdint.h>

enum { NODES_PORTS = 4 };

struct trial {
    uint64_t packets; /* sent on */
    uint64_t ns;      /* of this thread's processor time */
    uint64_t ticks;   /* of the processor's counter, other programs' share included */
};

/* Starts EAL with lcores 0 and 1. False in *two: this machine has but one core. */
void nodes_start_eal(bool *two);

/* A random number below `below`, always the same ones. */
uint32_t nodes_random(uint32_t below);

/* Of a packet of `bytes` bytes that may stand on this input, for somewhere else. */
struct hx_header nodes_header(const struct hx_route *route, unsigned input, unsigned vc, unsigned bytes);

/* ---- ports without a peer ---- */

/* As if a peer had been heard: the port takes data. */
static inline void nodes_greet(struct dpdk_port *p)
{
    p->cable.link.open = p->cable.link.heard = true;
}

/* As if it had just said that its buffers are empty. Call before each loop. */
static inline void nodes_grant(struct dpdk_port *p)
{
    struct hx_credit_sender *tx = p->cable.link.tx;
    for (unsigned vc = 0; vc < HX_VCS; vc++)
        tx[vc].limit = tx[vc].sent + tx[vc].buffer;
    p->cable.link.unheard = 0;
}

/* ---- net_null: null.c. One at a time ---- */

void null_open(unsigned bytes);
struct trial null_run(unsigned loops);
void null_close(void);

/* ---- net_ring: rings.c ---- */

struct rings;

/* Accelerator (place, place) inside its board, whose E port is cabled to its W port and N to S, with `frames` packets
 * of `bytes` bytes in each VC of these cables. `lcores`: as hxmesh-dpdk --lcores. */
struct rings *rings_open(unsigned place, unsigned bytes, unsigned frames, const char *lcores);
/* Of one lcore, by this thread. */
struct trial rings_run(struct rings *r, unsigned loops);
/* Likewise over net_null: every input brings packets for everywhere, however they leave. (The cables above collect
 * packets where they came to be: lcores would not have the same work.) */
struct rings *rings_open_null(unsigned place, const char *lcores);
/* As many lcores as it has, for so long; .ns is of the one that had least. */
struct trial rings_run_all(struct rings *r, unsigned microseconds);
void rings_close(struct rings *r);

/* ---- latency: latency.c ---- */

enum { LATENCY_PACKETS = 300000 };

struct latency {
    double p50, p99, p999, most; /* nanoseconds */
    unsigned interrupted;        /* loops that something else ran in */
};

/* Packets of 64 bytes come at random moments (exponential gaps), one in `gap` ticks of the counter. */
struct latency latency_measure(double gap);

#endif
