/* work.h - what a training iteration computes and sends on a network of dimensions, and how long it takes with given
 * rates (Won et al., "Exploring Multi-dimensional Hierarchical Network Topologies for Efficient Distributed Training of
 * Trillion Parameter DL Models", 2021).
 *
 * A network is Ring(8)_Switch(128): each NPU has links in each dimension. The rates of these together are one number
 * per dimension. Ranks are numbered along the first dimension first. A group has `members` along each dimension, and
 * its collectives are hierarchical. Of a vector of m bytes, an all-reduce over n1, n2, ... members sends
 *
 *     2 (n1 - 1) / n1 m, 2 (n2 - 1) / (n1 n2) m, ...
 *
 * along these dimensions, half of it each in a reduce-scatter and an all-gather. The shares are the same for all three.
 * An all-to-all sends (n - 1) / n m along each. Chunks of a vector are in different dimensions at one time, so a
 * collective takes as long as its slowest dimension, and latency x hops. Collectives come one after the other, but
 * those `beside` computing go on beside it. */
#ifndef HXMESH_TOOLS_BANDWIDTH_WORK_H
#define HXMESH_TOOLS_BANDWIDTH_WORK_H

#include "base/error.h"
#include "topology/prices.h"

#include <stdint.h>

enum { BANDWIDTH_DIMENSIONS = 5, BANDWIDTH_NEEDS = 16, BANDWIDTH_NAME = 128 };

enum bandwidth_kind { BANDWIDTH_RING, BANDWIDTH_FC, BANDWIDTH_SWITCH };

struct bandwidth_dimension {
    enum bandwidth_kind kind;
    unsigned size;
};

struct bandwidth_network {
    unsigned dimensions;
    struct bandwidth_dimension dimension[BANDWIDTH_DIMENSIONS];
};

/* Reads "Ring(8)_Switch(128)". A dimension may have any size. Returns false and sets *problem. */
bool bandwidth_network_read(struct bandwidth_network *n, const char *text, struct hx_problem *problem);
/* Writes it. Returns text. */
const char *bandwidth_network_write(const struct bandwidth_network *n, char text[BANDWIDTH_NAME]);
uint64_t bandwidth_npus(const struct bandwidth_network *n);

enum bandwidth_pattern {
    BANDWIDTH_COLLECTIVE, /* all-reduce, or its halves */
    BANDWIDTH_EXCHANGE,   /* all-to-all */
    BANDWIDTH_HALO,       /* messages to the members at positions that differ in one bit */
    BANDWIDTH_NEXT        /* messages to the next member, which pass every dimension of the group at its ends */
};

/* Communication of one kind of parallelism in an iteration. */
struct bandwidth_need {
    const char *purpose; /* "tensor" */
    bool data;           /* of data parallelism; else of model parallelism */
    bool beside;         /* goes on beside computing */
    enum bandwidth_pattern pattern;
    double bytes;                           /* that a rank sends, in all dimensions */
    double calls;                           /* all-reduces; a half of one counts 1/2 */
    unsigned members[BANDWIDTH_DIMENSIONS]; /* of a group along each dimension; 1: none */
    uint64_t stride[BANDWIDTH_DIMENSIONS];  /* of these members: ranks from one to the next */
};

struct bandwidth_work {
    unsigned needs;
    struct bandwidth_need need[BANDWIDTH_NEEDS];
    double computing; /* seconds */
    double bubble;    /* by how much the pipeline's bubble lengthens computing and what belongs to the model; 1: none */
    double room;      /* seconds of computing that communication may go on beside */
};

/* Places a group along the dimensions by its ranks. Returns false if it does not fill them evenly: 6 of Ring(8). */
bool bandwidth_place(const struct bandwidth_network *n, struct bandwidth_need *need, const uint32_t *rank,
                     uint32_t ranks);

/* Bytes that a rank sends along each dimension. */
void bandwidth_bytes(const struct bandwidth_network *n, const struct bandwidth_need *need, double *bytes);

struct bandwidth_time {
    double model, data; /* seconds of communication, by kind of parallelism */
    double exposed;     /* of both, seconds that are not beside computing */
    double iteration;   /* seconds */
    double use;         /* 0 .. 1: bytes sent, of what the dimensions of a collective carry in its time; mean over the
                         * time of communication */
};

/* rate[]: of an NPU's links in each dimension together, bytes a second. latency: seconds of a hop. */
struct bandwidth_time bandwidth_time_of(const struct bandwidth_network *n, const struct bandwidth_work *w,
                                        const double *rate, double latency);

/* The same from the seconds that each need takes. */
struct bandwidth_time bandwidth_time_from(const struct bandwidth_network *n, const struct bandwidth_work *w,
                                          const double *rate, const double *seconds);

/* At prices of a GB/s: of a cable, a NIC, and a switch for each port. A cable counts once: a ring's and a full mesh's
 * joins two NPUs. NICs are at switches only. Returns dollars of the network. */
double bandwidth_cost(const struct bandwidth_network *n, const double *rate, const struct hx_prices *p);

#endif
