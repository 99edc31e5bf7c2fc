/* traffic.h - who sends how many messages to whom: the patterns of `hxmesh run`, or what a file says (flows.h).
 *
 * Everything is a function of (spec, settings, file): each worker has the same plan. Accelerators of a job talk among
 * themselves; those of failed boards are left out. `message` numbers count an accelerator's messages from 0. */
#ifndef TRAFFIC_H
#define TRAFFIC_H

#include "fabric-emu/workload/flows.h"
#include "fabric-emu/workload/peers.h"
#include "host/spec.h"

enum { TRAFFIC_NOBODY = UINT32_MAX };

struct traffic {
    const struct hx_spec *spec;
    const struct hx_fabric *g;
    struct hx_settings settings;
    const struct flows *flows;                  /* of HX_FLOWS; NULL: a pattern */
    uint32_t target[HX_VALUE_MOST_COORDINATES]; /* ranks: of incast the first, of a hotspot all */
    unsigned targets;
    uint32_t *member;   /* ranks, job by job, column by column within one */
    uint32_t *first;    /* [rank]: where its job begins in member */
    uint32_t *members;  /* [rank]: how many its job has */
    uint32_t *place;    /* [rank]: its index in its job */
    uint32_t *partner;  /* [rank]: where everyone has one for good; TRAFFIC_NOBODY: none */
    uint32_t *senders;  /* [rank]: whose partner it is, how many */
    struct peers peers; /* where everyone has a few for good, in turn; else empty */
};

/* *spec, *g and *flows (NULL: none) must outlive *t. */
void traffic_init(struct traffic *t, const struct hx_spec *spec, const struct hx_fabric *g,
                  const struct hx_settings *settings, const struct flows *flows);
void traffic_free(struct traffic *t);

/* Messages that an accelerator sends in all; UINT64_MAX if it sends until the time is over. */
uint64_t traffic_messages(const struct traffic *t, uint32_t rank);

/* Payload of all messages together, of traffic that ends. */
double traffic_bytes_of_all(const struct traffic *t);

/* Of the injection bandwidth of all, what those that send offer by a pattern. */
double traffic_share_offered(const struct traffic *t);

/* Accelerators that this one sends to, and those that it sends to or receives from, at most. */
uint32_t traffic_destinations(const struct traffic *t, uint32_t rank);
uint32_t traffic_peers(const struct traffic *t, uint32_t rank);

/* Messages from one accelerator to another in all; 0 where there is no end to them. */
uint64_t traffic_messages_between(const struct traffic *t, uint32_t from, uint32_t to);

/* Of its `message`-th message: where it goes to, how long it is, and how long after the start of the run it may begin. Only
 * for accelerators that have it. */
uint32_t traffic_destination(const struct traffic *t, uint32_t rank, uint64_t message);
uint64_t traffic_bytes(const struct traffic *t, uint32_t rank, uint64_t message);
uint64_t traffic_start_ns(const struct traffic *t, uint32_t rank, uint64_t message);

/* Of messages that are due at random: from one to the next, in mean intervals. */
double traffic_interval(const struct traffic *t, uint32_t rank, uint64_t message);

/* Whether a pattern has a sense on this fabric and its jobs; a collective has, as far as is known here. */
bool traffic_check(const struct hx_spec *spec, const struct hx_fabric *g, const struct hx_settings *settings,
                   struct hx_problem *problem);

#endif
