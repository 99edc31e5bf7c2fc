/* timing.h - how long everything takes under the virtual clock, in integer picoseconds.
 *
 * Source: SC22 table III. A packet of n blocks (256 B; its header rides along, as in the paper's flits) that a switch
 * decides to send at time t, whose first block may be routed since r <= t:
 *
 *     through  = max(t, crossbar port of the input free, crossbar port of the output free)
 *     start    = max(through + output latency, link free)            first bit on the link
 *     link free = start + n * block on the link
 *     ready at the next switch = start + 1 block on the link + latency of the link + input latency
 *     gone     = max(through + n * block in the crossbar, r + (n - 1) * block on the link)
 *     credit at the sender = gone + output latency + latency of the link + input latency
 *
 * so forwarding is virtual cut-through: the head leaves after its first block. An output takes the next packet when
 * link free <= t + output latency + four full packets in the crossbar: as late as it can without leaving gaps on the
 * link though its input's crossbar port may be busy, for others may have chosen the same input. (With one instead of
 * four, a 16x16 Hx2Mesh that was loaded to 98 % fell to 94 % in a millisecond, and filled: inputs with much to send
 * were chosen by many outputs at once, whose links stood idle meanwhile.) The endpoint's inner ports are four times as
 * fast as the others, as its link is. A packet injected at t takes the endpoint's link, of four links' rate: ready =
 * max(t, free) + 1 block there + input latency. A delivered one is there when its tail is: max(start + n * block there,
 * r + (n - 1) * block on the link + output latency).
 *
 * A pace is a share of four links' rate at which the endpoint's packets follow each other on the average: none starts
 * before those that went first would have taken at that rate, and what was held up makes good for it at the full
 * one. */
#ifndef VIRTUAL_TIMING_H
#define VIRTUAL_TIMING_H

#include "hxmesh/frame.h"

#include <stdbool.h>
#include <stdint.h>

enum { VIRTUAL_PACKET_BLOCKS = HX_PACKET_BLOCKS };

/* Picoseconds of 0 .. 32 blocks. */
struct virtual_rate {
    uint32_t blocks[VIRTUAL_PACKET_BLOCKS + 1];
};

/* Links that are alike, and the crossbar's ports to and from them, which are no slower. */
struct virtual_link {
    struct virtual_rate rate, crossbar;
    struct virtual_rate tail; /* from when a packet's first block may be routed until its last one may */
    uint32_t latency;         /* ps */
    uint32_t there;           /* ps from a packet's first bit on the link until it is ready at the far end */
    uint32_t back;            /* ps from when a packet is gone until its credit is at the sender */
};

enum { VIRTUAL_LINKS = 8 /* classes */ };

/* What all times follow from. */
struct virtual_speeds {
    uint64_t link, crossbar; /* Gb/s */
    uint64_t cable, trace;   /* latencies of links, ns */
    uint64_t input, output;  /* latencies of buffers, ns */
    uint64_t buffer;         /* of an input port, bytes */
};

struct virtual_timing {
    struct virtual_rate link, local, crossbar, local_crossbar; /* link, crossbar: where a class says nothing */
    struct virtual_link of[VIRTUAL_LINKS];                     /* by class of a link; [0] where nobody said otherwise */
    struct virtual_link endpoint;                              /* an endpoint's own, from it and to it */
    uint64_t inject[VIRTUAL_PACKET_BLOCKS + 1]; /* ps of so many blocks from an endpoint: as `local`, or slower */
    uint32_t ahead;         /* an output takes the next packet when its link will be free in so many ps */
    uint32_t input, output; /* latencies, ps: up to 1 ms each, so that one of each together fit too */
    uint32_t cable, trace;
    uint32_t vcs;       /* of the fabric: they share a port's buffer */
    uint32_t vc_blocks; /* credit of a VC: its share of the buffer, at most HX_WINDOW packets, so below HX_MAX_ROOM */
    /* the least time from a decision in one switch to where another sees it: see virtual_timing_init */
    uint64_t window;
};

/* One class of links, a cable's. */
void virtual_timing_init(struct virtual_timing *t, const struct virtual_speeds *p, unsigned vcs);

/* What a class of links is: gbps 0: as all; ps of latency. Then the window is as long as the shortest of them
 * allows. */
void virtual_timing_class(struct virtual_timing *t, unsigned link_class, uint64_t gbps, uint32_t latency);
/* An endpoint's own link to its switch has the rate of so many links, four or more. */
void virtual_timing_local(struct virtual_timing *t, unsigned links);

/* Picoseconds of a block at a rate. */
static inline uint64_t virtual_timing_block(uint64_t gbps)
{
    return (uint64_t)HX_BLOCK * 8 * 1000 / gbps;
}

/* Bytes a picosecond of a link. Integer times make it a little more than what was asked for. */
static inline double virtual_timing_link_rate(const struct virtual_timing *t)
{
    return (double)HX_BLOCK / t->link.blocks[1];
}

/* From now on endpoints inject at most that share (0.001 .. 1) of four links' rate. */
void virtual_timing_injection_rate(struct virtual_timing *t, double share);

#endif
