/* collective_model.h - cost of collectives in closed form (Hoefler et al., SC22, section V-A2): bytes, steps, and time
 * from the latency of a step and a link's rate. Independent of the implementation. Hosts of one link meet at a switch
 * without a bottleneck, unless the algorithm is for rings and tori: tree, ring, rings, torus, swing. */
#ifndef HXMESH_SPEC_COLLECTIVE_MODEL_H
#define HXMESH_SPEC_COLLECTIVE_MODEL_H

#include "hxmesh/collective.h"
#include "spec/timing.h"

struct hx_collective_model {
    enum hx_collective_kind kind;
    enum hx_collective_algorithm algorithm;
    unsigned columns, rows;
    double bytes;     /* of the vector */
    double alpha;     /* seconds from a message's last byte sent to the first byte of the message that depends on it */
    double hop;       /* swing: seconds that each cable beyond the first adds to it */
    double link_rate; /* of one of an accelerator's four links, bytes a second */
    double injection; /* of all its links, bytes a second; 0: four links */
    double chunk;     /* bytes of a message, of chains and the double tree */
};

/* Messages on the longest chain of dependencies, with one chunk in a message. */
double hx_model_steps(const struct hx_collective_model *m);

/* Bytes on the busiest link of an accelerator, in one direction; algorithms for switches: on each of four. */
double hx_model_link_bytes(const struct hx_collective_model *m);

/* Bytes on all links of the accelerator that sends most. */
double hx_model_host_bytes(const struct hx_collective_model *m);

/* steps * alpha + the longer of: bytes on the busiest link / its rate; bytes on all links / their total rate. Chains
 * and double trees fill first. Swing shares links. Folding (halving, doubling): exact if a power of two of the others
 * is spared, 3 * 2^k ranks; else more messages of members that run ahead meet on a link. */
double hx_model_seconds(const struct hx_collective_model *m);

/* A dimension of a hierarchy. */
struct hx_model_dimension {
    unsigned size;
    enum hx_collective_algorithm algorithm;
    double rate;  /* of a member's links of this dimension, bytes a second */
    double alpha; /* seconds of a step */
};

/* Seconds of a hierarchical all-reduce (Won et al., 2021). Its chunks pipeline over the dimensions. A dimension of p
 * has 2 (p - 1) / p of what earlier ones left, one half out and one half back. The longer of: all chunks out in the
 * slowest dimension, and the last through all other phases; a dimension works all the time, from the first chunk that
 * reaches it to the last that leaves it. */
double hx_model_hierarchy(const struct hx_model_dimension *dimension, unsigned dimensions, double bytes,
                          unsigned chunks);

/* Vector bytes a second over those of the best possible all-reduce. The best is half of the rate of all four links,
 * since each byte leaves an accelerator nearly twice. */
double hx_model_share(const struct hx_collective_model *m);

/* Seconds until the head of a packet reaches another endpoint, over `cables` cables of cable_ns each. */
double hx_model_latency(const struct hx_timing *t, double cables, uint64_t cable_ns);

#endif
