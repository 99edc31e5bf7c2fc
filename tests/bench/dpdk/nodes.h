/* nodes.h - nodes of the DPDK platform for benchmarks: over net_null, over net_ring, and at half load. */
#ifndef DPDK_NODES_H
#define DPDK_NODES_H

#include "hal/dpdk/port.h"
#include "hxmesh/frame.h"
#include "hxmesh/route.h"

#include <stdbool.h>
#include <stdint.h>

enum { NODES_PORTS = 4 };

struct trial {
    uint64_t packets; /* forwarded */
    uint64_t ns;      /* of this thread's processor time */
    uint64_t ticks;   /* of the processor's counter, with the share of other programs */
};

/* Starts EAL with lcores 0 and 1. *two: whether this machine has two cores. */
void nodes_start_eal(bool *two);

/* A random number below `below`, from a fixed sequence. */
uint32_t nodes_random(uint32_t below);

/* Header of a packet of `bytes` bytes that may arrive by this input, for another node. */
struct hx_header nodes_header(const struct hx_route *route, unsigned input, unsigned vc, unsigned bytes);

/* ---- ports without a peer ---- */

struct node;

/* Takes the node's links for up, builds its routes, and checks for silent peers no more. */
void nodes_bring_up(struct node *n);

/* Opens the port as if a peer had sent credit frames: it takes data. */
static inline void nodes_greet(struct dpdk_port *p)
{
    p->cable.link.open = p->cable.link.heard = true;
}

/* Grants empty buffers as a peer does. Call before each loop. */
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

/* Accelerator (place, place) inside its board. Its E port is cabled to its W port and N to S, with `frames` packets
 * of `bytes` bytes in each VC of these cables. `lcores`: as hxmesh-dpdk --lcores. */
struct rings *rings_open(unsigned place, unsigned bytes, unsigned frames, const char *lcores);
/* A trial on one lcore, by this thread. */
struct trial rings_run(struct rings *r, unsigned loops);
/* The accelerator over net_null: every input brings packets for all destinations. (The cables above collect packets
 * at their outputs, so lcores would not have equal work.) */
struct rings *rings_open_null(unsigned place, const char *lcores);
/* A trial on all its lcores; .ns is that of the lcore with the least. */
struct trial rings_run_all(struct rings *r, unsigned microseconds);
void rings_close(struct rings *r);

/* ---- latency: latency.c ---- */

enum { LATENCY_PACKETS = 300000 };

struct latency {
    double p50, p99, p999, most; /* nanoseconds */
    unsigned interrupted;        /* interrupted loops */
};

/* Packets of 64 bytes at random times (exponential gaps), one in `gap` ticks of the counter. */
struct latency latency_measure(double gap);

#endif
