/* time.h - the time of an iteration: computing, exchanges, and what sums of gradients add.
 *
 * An exchange takes as long as its fullest link, and the latency of its longest path. A sum takes 2 (k - 1) steps
 * around its rings, both directions of each ring at once, each with an equal part of the vector: what its fullest link
 * carries, and 2 (k - 1) latencies of a step. That is the mean over the ring, since segments go around it. Sums of
 * several groups go at the same time. They go on beside `hidden` seconds of computing, the rest is exposed:
 *
 *     iteration = forward + backward + exchanges + max(0, sums - hidden) */
#ifndef HXMESH_TOOLS_CIRCUITS_TIME_H
#define HXMESH_TOOLS_CIRCUITS_TIME_H

#include "tools/circuits/circuits.h"
#include "tools/circuits/network.h"

struct circuits_time {
    double computing, exchanges, sums, exposed, iteration; /* seconds */
    /* Bandwidth tax: bytes that servers send and forward / bytes that they send of their own. Switches forward for
     * nothing: 1. No bytes: 1. */
    double tax;
};

/* rings: of struct circuits; a sum that has none goes around one ring of stride 1. load: room for servers_links(n), or
 * NULL; filled with the bytes of each link in an iteration. */
struct circuits_time circuits_time_of(const struct circuits_demand *d, struct network_of_servers *n,
                                      const struct circuits_ring *ring, unsigned rings, double *load);

/* After it threads may call circuits_time_of() at the same time with these rings, if sums are over all servers (member
 * NULL). */
void circuits_time_warm(struct network_of_servers *n, const struct circuits_ring *ring, unsigned rings);

#endif
