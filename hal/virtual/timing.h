/* timing.h - times under the virtual clock, in integer picoseconds.
 *
 * Source: SC22 table III. A packet has n blocks (256 B; its header takes no time, as with the paper's flits). A switch
 * decides to send it at time t; its first block may be routed since r <= t:
 *
 *     through  = max(t, crossbar port of the input free, crossbar port of the output free)
 *     gone     = max(through + n * block in the crossbar, r + (n - 1) * block on the link before)    last byte, input
 *     start    = max(through + output latency, link free, gone + output latency - n * block on the link)    first bit
 *     link free = start + n * block on the link                                                             last bit
 *     ready at the next switch = start + 1 block on the link + latency of the link + input latency
 *     credit at the sender = gone + output latency + latency of the link + input latency
 *
 * So forwarding is virtual cut-through: the head leaves after its first block. Onto a link that is faster than the one
 * before, it leaves so late that the packet does not run dry: its last byte leaves as it comes in. Until then the
 * packet waits at its input (sim_node.c), and those of other inputs pass it. An output takes the next packet when link
 * free <= t + output latency + four full packets in the crossbar. That is as late as possible without gaps on the link,
 * though other outputs may have chosen the same input.
 *
 * An endpoint's ports are four times as fast as the others, or as all links of a host with more. Its link carries the
 * blocks of several packets in turn. So a delivered packet occupies it for n blocks from start = max(through + output
 * latency, link free) on, and arrives with its tail: max(start + n * block there, r + (n - 1) * block on the link
 * before + output latency).
 *
 * A packet injected at t: ready = max(t, free) + 1 block there + input latency. Then free moves by the time that all
 * links of the host to this plane take for the packet: a source is never faster than they are.
 *
 * A train (hal_train() in hxmesh/hal.h) has the times of one packet of as many blocks. Its packet i, from 0, is 32 i
 * blocks behind the first one on every link. So it counts in latencies, and so captures show it.
 *
 * The injection rate is a share of four links' rate, the average rate of an endpoint's packets. No packet starts before
 * its predecessors would have ended at that rate. An endpoint that the fabric held up catches up at its links' rate;
 * one that had no packet waiting begins anew. */
#ifndef VIRTUAL_TIMING_H
#define VIRTUAL_TIMING_H

#include "hxmesh/frame.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    VIRTUAL_PACKET_BLOCKS = HX_PACKET_BLOCKS,
    VIRTUAL_MOST_TRAIN = 4, /* packets */
    VIRTUAL_MOST_BLOCKS = VIRTUAL_MOST_TRAIN * VIRTUAL_PACKET_BLOCKS
};

/* ps of 0 .. 128 blocks. */
struct virtual_rate {
    uint32_t blocks[VIRTUAL_MOST_BLOCKS + 1];
};

/* A class of links, with the crossbar ports at both ends, which are at least as fast. */
struct virtual_link {
    struct virtual_rate rate, crossbar;
    struct virtual_rate tail; /* ps from the time a packet's first block may be routed to that of its last block */
    uint32_t latency;         /* ps */
    uint32_t there;           /* ps from a packet's first bit on the link until it is ready at the far end */
    uint32_t back;            /* ps from a packet's departure until its credit is at the sender */
    uint64_t window;          /* ps: least time from a decision at one end to its effect at the other */
};

enum { VIRTUAL_LINKS = 8 /* classes */ };

/* Parameters of all times. */
struct virtual_speeds {
    uint64_t link, crossbar; /* Gb/s */
    uint64_t cable, trace;   /* latencies of links, ns */
    uint64_t input, output;  /* latencies of buffers, ns */
    uint64_t buffer;         /* of an input port, bytes */
    unsigned train;          /* most packets of a train; 0: 1 */
};

struct virtual_timing {
    struct virtual_rate link, local, crossbar, local_crossbar; /* link, crossbar: defaults of a class */
    struct virtual_link of[VIRTUAL_LINKS];                     /* by link class; [0]: default */
    struct virtual_link endpoint;                              /* link between endpoint and switch */
    uint64_t inject[VIRTUAL_MOST_BLOCKS + 1]; /* ps of n blocks from an endpoint, at the injection rate */
    uint32_t ahead;                           /* ps before its link is free that an output takes the next packet */
    uint32_t input, output;                   /* latencies, ps: at most 1 ms each, so that sums fit */
    uint32_t cable, trace;
    uint32_t train;     /* most packets of a train: 1, 2 or 4 */
    uint32_t full;      /* blocks of a full train */
    uint32_t vcs;       /* of the fabric; they share a port's buffer */
    uint32_t vc_blocks; /* credit of a VC: its share of the buffer, at most HX_WINDOW packets, so below HX_MAX_ROOM */
    uint64_t window;    /* ps: the least of all classes */
};

/* Sets the times of link class 0, cables. */
void virtual_timing_init(struct virtual_timing *t, const struct virtual_speeds *p, unsigned vcs);

/* Sets the most packets of a train: 1, 2 or 4. */
void virtual_timing_train(struct virtual_timing *t, unsigned train);

/* Sets the times of a class. gbps: 0: the default; latency: ps. Shortens the window if necessary. Links of several
 * rates carry no trains: one that goes on to a faster link would overtake its own last packets. */
void virtual_timing_class(struct virtual_timing *t, unsigned link_class, uint64_t gbps, uint32_t latency);
/* Sets the rate of an endpoint's link to that of `links` links, at least four. */
void virtual_timing_local(struct virtual_timing *t, unsigned links);

/* ps a block. */
static inline uint64_t virtual_timing_block(uint64_t gbps)
{
    return (uint64_t)HX_BLOCK * 8 * 1000 / gbps;
}

/* Bytes a picosecond of a link; a little above the given rate, for times are integers. */
static inline double virtual_timing_link_rate(const struct virtual_timing *t)
{
    return (double)HX_BLOCK / t->link.blocks[1];
}

/* Limits injection to a share (0.001 .. 1) of four links' rate. */
void virtual_timing_injection_rate(struct virtual_timing *t, double share);

#endif
