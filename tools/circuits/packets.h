/* packets.h - the circuits and the schedule as files, and a run of both by `hxmesh run`. */
#ifndef HXMESH_TOOLS_CIRCUITS_PACKETS_H
#define HXMESH_TOOLS_CIRCUITS_PACKETS_H

#include "tools/circuits/circuits.h"

#include <stdbool.h>
#include <stdint.h>

/* Means of the servers; purposes as in schedule.h. */
struct circuits_run {
    bool there;
    double iteration, computing, exposed;  /* seconds */
    double exchanges, sums;                /* seconds in which one is in progress */
    double exchanged_bytes, reduced_bytes; /* of all servers */
    double real_seconds;                   /* of the simulation */
};

/* How `hxmesh run` is called. */
struct circuits_running {
    const char *graph, *schedule; /* files */
    uint64_t workers;             /* 0: one a core */
    bool quiet;
};

/* Returns HX_EXIT_DONE, or the exit code of a run that failed and has printed an error. */
int circuits_simulate(const struct circuits_running *how, struct circuits_run *run);

#endif
