/* packets.h - the same times at packet level: `hxmesh run` simulates an all-reduce of all groups of a need at once.
 *
 * The fabric has the network's rates, and a switch has BANDWIDTH_MOST_PORTS NPUs at most: Ring(8)_Switch(64) stands for
 * Ring(8)_Switch(128), with groups that are so much smaller. A vector is cut into chunks. Each goes along the group's
 * dimensions and back (reduce-scatter, all-reduce in the last, all-gather), a chunk behind the other, so that they are
 * in different dimensions at one time.
 *
 * A vector is shorter than the job's. If links are fast, vector and rates are divided by one number (`slowed`), which
 * leaves times and latencies as they are and makes packets longer. What the simulation takes over the closed form of
 * the same vector and rates, times the closed form of the job, is the time of the need. */
#ifndef HXMESH_TOOLS_BANDWIDTH_PACKETS_H
#define HXMESH_TOOLS_BANDWIDTH_PACKETS_H

#include "tools/bandwidth/work.h"

#include <stdio.h>

enum { BANDWIDTH_MOST_PORTS = 64, BANDWIDTH_CHUNKS = 16 };

/* How needs are simulated. */
struct bandwidth_packets {
    uint64_t vector;  /* bytes that a rank has in a simulation */
    unsigned workers; /* 0: one a core */
};

/* A simulation of a need. */
struct bandwidth_run {
    char fabric[BANDWIDTH_NAME]; /* "Ring(8)_Switch(64) gbps=600,1200" */
    unsigned slowed;
    uint64_t vector;        /* bytes that it stands for */
    double seconds, closed; /* simulated; closed form of the same, of bytes alone */
};

/* Fills seconds[needs]; runs[needs] too, unless NULL. Needs that are no collective have their closed form, and
 * .fabric "". Returns HX_EXIT_DONE, or the exit code of a run that failed and has printed an error. */
int bandwidth_simulate(const struct bandwidth_network *n, const struct bandwidth_work *w, const double *rate,
                       const struct bandwidth_packets *how, double *seconds, struct bandwidth_run *runs);

/* Writes the schedule of an all-reduce of `bytes` in all groups of the need. */
void bandwidth_schedule(const struct bandwidth_network *n, const struct bandwidth_need *need, uint64_t bytes,
                        FILE *out);

#endif
