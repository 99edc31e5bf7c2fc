/* collective_model.h - cost of collectives in closed form (Hoefler et al., SC22, section V-A2): bytes, steps, and time
 * from the latency of a step and a link's rate. Independent of the implementation. */
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
    double link_rate; /* of one of an accelerator's four links, bytes a second */
    double injection; /* of all its links, bytes a second; 0: four links */
};

/* Bytes sent by all accelerators, without acknowledgements. */
double hx_model_bytes_sent(const struct hx_collective_model *m);

/* Messages on the longest chain of dependencies, with one chunk in a message. */
double hx_model_steps(const struct hx_collective_model *m);

/* Bytes on the busiest link of an accelerator, in one direction. */
double hx_model_link_bytes(const struct hx_collective_model *m);

/* Bytes on all links of the accelerator that sends most. */
double hx_model_host_bytes(const struct hx_collective_model *m);

/* steps * alpha + the longer of: bytes on the busiest link / its rate; bytes on all links / their total rate. */
double hx_model_seconds(const struct hx_collective_model *m);

/* Vector bytes a second over those of the best possible all-reduce. The best is half of the rate of all four links,
 * since each byte leaves an accelerator nearly twice. */
double hx_model_share(const struct hx_collective_model *m);

/* Seconds until the head of a packet reaches another endpoint, over `cables` cables of cable_ns each. */
double hx_model_latency(const struct hx_timing *t, double cables, uint64_t cable_ns);

#endif
