/* collective_loads.h - bytes of a collective's messages on the links of a fabric: each message is split evenly over the
 * next hops of its minimal paths, as the tables have them. */
#ifndef COLLECTIVE_LOADS_H
#define COLLECTIVE_LOADS_H

#include "spec/timing.h"
#include "topology/path_states.h"
#include "workload/link_bytes.h"

/* A link on some of a pair's paths, and the share of the bytes that takes it. */
struct collective_hop {
    uint32_t port;
    float share;
};

/* The paths from a state to a node, kept for pairs that have them in common. */
struct collective_route {
    uint64_t key;         /* state and node; 0: none */
    uint32_t first, hops; /* in collective_loads.hop */
    uint32_t first_ports; /* bits */
    bool split;           /* there is more than one path */
    double latency;       /* seconds of the longest path */
    double slowness;      /* seconds a byte of the slowest share */
    double last;          /* seconds a byte of the last link */
};

struct collective_loads {
    const struct hx_fabric *g;
    struct hx_tables tables;
    struct hx_path_states states;
    struct hx_timing timing;
    double apart;     /* multiple of `last` of paths: 1, as if a packet were split over all planes; planes: it is not */
    bool quiet;       /* a choice by these loads shows no progress */
    bool untried;     /* a choice by these loads takes the least estimate, without trials of packets */
    bool split;       /* collective_loads_lay() found several paths of a pair; its user clears it */
    double *slowness; /* [ports]: seconds a byte of all planes; of LOCAL: into the endpoint */
    double *latency;  /* [ports]: seconds of a hop */
    uint32_t *router; /* [hosts]: attachment router */
    struct collective_route *route;
    struct collective_hop *hop;
    uint32_t hops, room; /* in use, and allocated */
    /* Of a search: */
    double *share[2];     /* [states]: of the bytes; by the parity of the hop */
    double *late[2];      /* [states]: seconds from the start */
    uint32_t *reached[2]; /* states */
    /* Of an estimate (collective_estimate.h); empty between estimates. */
    struct link_bytes step, alone; /* of a step; of a stripe of it */
    struct link_bytes total;       /* of all steps, as if all stripes of a phase had as many as the longest */
    struct link_bytes bytes;       /* of all steps */
};

/* The paths of a pair of hosts, until the next collective_loads_begin(). */
struct collective_path {
    double latency;       /* seconds until the head of a packet arrives, on the longest path */
    double slowness;      /* seconds a byte, alone on the paths */
    double last;          /* seconds a byte of the last link */
    uint32_t first_ports; /* of the sender; bits */
    bool split;           /* there is more than one path */
    uint32_t first, hops; /* in collective_loads.hop */
    uint32_t end[3];      /* ports that all bytes take: out of a host with one link, into it, into the endpoint */
    unsigned ends;
};

void collective_loads_open(struct collective_loads *l, const struct hx_fabric *g, const struct hx_timing *timing);
void collective_loads_close(struct collective_loads *l);

/* Before paths are taken: paths that were taken earlier may be forgotten. */
void collective_loads_begin(struct collective_loads *l);
struct collective_path collective_loads_path(struct collective_loads *l, uint32_t from, uint32_t to);

/* Adds bytes to the links of a path. load: [ports]. */
void collective_loads_lay(struct collective_loads *l, const struct collective_path *path, double bytes, double *load);
/* The same for few links. */
void collective_loads_lay_few(struct collective_loads *l, const struct collective_path *path, double bytes,
                              struct link_bytes *load);
/* Seconds of the fullest link of a path, of its links between nodes that forward, and of all. */
double collective_loads_worst(const struct collective_loads *l, const struct collective_path *path, const double *load);
double collective_loads_inside(const struct collective_loads *l, const struct collective_path *path,
                               const double *load);
double collective_loads_fullest(const struct collective_loads *l, const double *load);

#endif
