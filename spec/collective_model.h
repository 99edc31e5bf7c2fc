/* collective_model.h - what collectives cost, in closed form (Hoefler et al., SC22, section V-A2): bytes sent, steps,
 * and time from the latency of a step and the time of a byte on one link. Independent of the program that it
 * describes. */
#ifndef HXMESH_SPEC_COLLECTIVE_MODEL_H
#define HXMESH_SPEC_COLLECTIVE_MODEL_H

#include "hxmesh/collective.h"
#include "spec/timing.h"

struct hx_collective_model {
    enum hx_collective_kind kind;
    enum hx_collective_algorithm algorithm;
    unsigned columns, rows;
    double bytes;     /* of the vector */
    double alpha;     /* seconds from a message's last byte sent to its answer's first byte sent */
    double link_rate; /* bytes a second of one of an accelerator's four links */
    double injection; /* bytes a second of all its links together; 0: four links */
};

/* Sent by all accelerators together, acknowledgements apart. */
double hx_model_bytes_sent(const struct hx_collective_model *m);

/* Messages that have to wait for one another, one chunk a message. */
double hx_model_steps(const struct hx_collective_model *m);

/* Bytes that pass the busiest link of an accelerator, one way. */
double hx_model_link_bytes(const struct hx_collective_model *m);

/* Bytes that an accelerator sends by all its links, the one that sends most. */
double hx_model_host_bytes(const struct hx_collective_model *m);

/* steps * alpha + the longer of bytes on the busiest link / its rate, and bytes by all links / their rate together. */
double hx_model_seconds(const struct hx_collective_model *m);

/* Vector bytes a second over those of the best possible all-reduce: half of the four links' rate together, since every
 * byte has to leave an accelerator nearly twice. */
double hx_model_share(const struct hx_collective_model *m);

/* Seconds until the head of a packet that leaves one endpoint reaches another one, over `cables` cables of so many
 * ns. */
double hx_model_latency(const struct hx_timing *t, double cables, uint64_t cable_ns);

#endif
