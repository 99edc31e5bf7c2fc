/* network.h - times of collectives and messages on a fabric, on their own.
 *
 * Groups that carry out the same collective at the same time are a family: tensor groups, or replicas. The messages of
 * all groups of a family are carried over the links (carried.h). If they are too many, a collective takes the time of
 * its slowest group alone, and the time that the bytes of the other groups add on the fullest link. A message takes the
 * latency of its path, and its bytes' time on the fullest link of the path beside the other pairs' messages, of which
 * each sender has one in flight. */
#ifndef HXMESH_TOOLS_TRAIN_NETWORK_H
#define HXMESH_TOOLS_TRAIN_NETWORK_H

#include "tools/train/network_memory.h"
#include "workload/collective_jobs.h"

struct network;

/* timing: complete. algorithm: enum hx_algorithm, of collectives that name none. *t must outlive the network. */
struct network *network_open(const struct traffic *t, const struct hx_timing *timing, unsigned algorithm);
/* After this call algorithms are chosen by estimates alone, without trials of packets, alike for vectors of about the
 * same bytes, and beside some of the other groups. *memory, which networks of a fabric share, must outlive it. */
void network_choose_quickly(struct network *n, struct network_memory *memory);
/* NULL is allowed. */
void network_close(struct network *n);

/* Links and routes, with the times of the run. */
const struct collective_loads *network_loads(const struct network *n);

/* Whether each host has one link: its groups then communicate in turn, since they share it. */
bool network_is_narrow(const struct network *n);

/* Adds a family of `count` groups of `size` hosts; host[i * size ...]: of group i, in its order. Returns its number,
 * or that of an equal family. */
unsigned network_add_family(struct network *n, uint32_t size, uint32_t count, const uint32_t *host);

/* Returns the number of a table of shares (schedule/shares.h), 1 and up. Equal tables have one number. */
uint32_t network_add_shares(struct network *n, const uint32_t *weight, uint32_t members);

struct network_collective {
    unsigned family;
    enum hx_collective_kind kind;
    unsigned algorithm; /* enum hx_algorithm */
    uint32_t root;      /* position in the group */
    uint32_t shares;    /* of an all-to-all: network_add_shares(); 0: equal */
    uint64_t bytes;     /* of the vector (schedule/schedule.h) */
};
/* Sets *ps. Returns false and sets *problem if no group can carry it out. Found once for each different collective. */
bool network_collective_ps(struct network *n, const struct network_collective *c, uint64_t *ps,
                           struct hx_problem *problem);

/* ps of a message of `bytes` from each host of a family to each of its neighbours: those at the positions that differ
 * in one of the lowest `bits` bits. */
uint64_t network_halo_ps(struct network *n, unsigned family, uint32_t bits, uint64_t bytes);

/* The algorithm that network_collective_ps() takes; enum hx_algorithm. Returns false if no group can carry it out. */
bool network_algorithm(struct network *n, const struct network_collective *c, unsigned *algorithm);
/* Bytes that all members of a group send in a collective, at least; of an all-to-all with equal shares. bytes: of the
 * vector. */
double network_collective_bytes(enum hx_collective_kind kind, uint32_t size, double bytes);
/* Adds the bytes of a collective of one group of the family, with this algorithm, to load[ports]. bytes: of the
 * vectors of all collectives alike, in place of those of *c. */
void network_lay_collective(struct network *n, const struct network_collective *c, uint32_t group, double bytes,
                            double *load);
/* Adds those of a message. */
void network_lay_message(struct network *n, uint32_t from, uint32_t to, double bytes, double *load);

/* Adds a pair of hosts: its messages share links with those of other pairs. weight: share of the sender's time, 0 .. 1;
 * over all its pairs the sum is 1. */
void network_add_pair(struct network *n, uint32_t from, uint32_t to, double weight);

/* What messages of a pair of hosts take: seconds of the path, of each byte, and of each byte of the last packet, which
 * takes one link of several, in addition. */
struct network_route {
    double latency, byte, packet;
};
struct network_route network_route_of(struct network *n, uint32_t from, uint32_t to);

static inline uint64_t network_message_ps(const struct network_route *r, uint64_t bytes)
{
    const double last = bytes < HX_MAX_PAYLOAD ? (double)bytes : HX_MAX_PAYLOAD;
    return (uint64_t)(1e12 * (r->latency + r->byte * (double)bytes + r->packet * last) + 0.5);
}

#endif
