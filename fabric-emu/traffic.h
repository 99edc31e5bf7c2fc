/* traffic.h - who sends how many messages to whom: the patterns of `hxmesh run`.
 *
 * Everything is a function of (spec, settings): each worker builds the same plan. Accelerators of a job talk among
 * themselves; those of failed boards are left out. `message` numbers count an accelerator's messages from 0. */
#ifndef TRAFFIC_H
#define TRAFFIC_H

#include "host/spec.h"

enum { TRAFFIC_NOBODY = UINT32_MAX };

struct traffic {
    const struct hx_spec *spec;
    const struct hx_geometry *g;
    struct hx_settings settings;
    uint32_t incast_target; /* rank */
    uint32_t *member;       /* ranks, job by job, column by column within one */
    uint32_t *first;        /* [rank]: where its job begins in member */
    uint32_t *members;      /* [rank]: how many its job has */
    uint32_t *place;        /* [rank]: its index in its job */
    uint32_t *partner;      /* [rank]: of permutation and bisection; TRAFFIC_NOBODY: none */
};

/* *spec and *g must outlive *t. */
void traffic_init(struct traffic *t, const struct hx_spec *spec, const struct hx_geometry *g,
                  const struct hx_settings *settings, uint32_t incast_target);
void traffic_free(struct traffic *t);

/* Messages that an accelerator sends in all; UINT64_MAX if it sends until the time is over. */
uint64_t traffic_messages(const struct traffic *t, uint32_t rank);

/* Accelerators that this one sends to, and those that it sends to or receives from, at most. */
uint32_t traffic_destinations(const struct traffic *t, uint32_t rank);
uint32_t traffic_peers(const struct traffic *t, uint32_t rank);

/* Messages from one accelerator to another in all; 0 where there is no end to them. */
uint64_t traffic_messages_between(const struct traffic *t, uint32_t from, uint32_t to);

/* Destination of its `message`-th message. Only for accelerators that have messages. */
uint32_t traffic_destination(const struct traffic *t, uint32_t rank, uint64_t message);

#endif
