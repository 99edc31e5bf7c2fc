/* traffic.h - who sends how many messages to whom: the patterns of `hxmesh run`, or what a file says (flows.h).
 *
 * Everything is a function of (spec, settings, file): each worker has the same plan. Accelerators of a job talk among
 * themselves, as the job says or else the run; those of failed boards, and where jobs are named those of no job, are
 * left out. `message` numbers count an accelerator's messages from 0. */
#ifndef TRAFFIC_H
#define TRAFFIC_H

#include "spec/spec.h"
#include "workload/flows.h"
#include "workload/peers.h"

enum { TRAFFIC_NOBODY = UINT32_MAX };

struct traffic {
    const struct hx_spec *spec;
    const struct hx_fabric *g;
    struct hx_settings settings;                /* the run's */
    struct hx_settings *own;                    /* [named jobs]: what each is to do; NULL: as the run */
    uint16_t *own_of;                           /* [ranks]: which of `own` */
    const struct flows *flows;                  /* of HX_FLOWS; NULL: a pattern */
    uint32_t target[HX_VALUE_MOST_COORDINATES]; /* ranks: of incast the first, of a hotspot all */
    unsigned targets;
    uint32_t *member;   /* ranks, job by job, column by column within one */
    uint32_t *first;    /* [rank]: where its job begins in member */
    uint32_t *lowest;   /* [rank]: the lowest rank of its job */
    uint32_t *members;  /* [rank]: how many its job has; 0: it takes no part */
    uint32_t *place;    /* [rank]: its index in its job */
    uint32_t *shift;    /* [ranks], like member: how far each message of the job's all-to-all goes, in their order */
    uint32_t *partner;  /* [rank]: where everyone has one for good; TRAFFIC_NOBODY: none */
    uint32_t *senders;  /* [rank]: whose partner it is, how many */
    struct peers peers; /* where everyone has a few for good, in turn; else empty */
};

/* *spec, *g and *flows (NULL: none) must outlive *t. */
void traffic_init(struct traffic *t, const struct hx_spec *spec, const struct hx_fabric *g,
                  const struct hx_settings *settings, const struct flows *flows);
void traffic_free(struct traffic *t);

/* What the job of an accelerator is to do. */
static inline const struct hx_settings *traffic_settings(const struct traffic *t, uint32_t rank)
{
    return t->own ? &t->own[t->own_of[rank]] : &t->settings;
}

static inline bool traffic_is_collective(const struct traffic *t, uint32_t rank)
{
    return traffic_settings(t, rank)->pattern >= HX_COLLECTIVES;
}

/* Whether the traffic of any job that is not silent is one. */
bool traffic_has_collectives(const struct traffic *t);

/* Whether any job says what it does in place of the run. */
bool traffic_jobs_differ(const struct traffic *t);

/* The one host that incast of an accelerator's job goes to and that has what is broadcast in it: where the job itself
 * says its traffic, its first one, the lowest rank; else the run's, which may be of another job. */
uint32_t traffic_target(const struct traffic *t, uint32_t rank);

/* When its job begins, ns from the start of the run. */
uint64_t traffic_job_start_ns(const struct traffic *t, uint32_t rank);

/* Messages that an accelerator sends in all; UINT64_MAX if it sends until the time is over; those of a collective are
 * not counted here. */
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

/* Of its `message`-th message: where it goes to, how long it is, and how long after the start of the run it may begin.
 * Only for accelerators that have it. */
uint32_t traffic_destination(const struct traffic *t, uint32_t rank, uint64_t message);
uint64_t traffic_bytes(const struct traffic *t, uint32_t rank, uint64_t message);
uint64_t traffic_start_ns(const struct traffic *t, uint32_t rank, uint64_t message);

/* Of messages that are due at random: from one to the next, in mean intervals. */
double traffic_interval(const struct traffic *t, uint32_t rank, uint64_t message);

/* Whether what the jobs are to do has a sense on this fabric; a collective has, as far as is known here. */
bool traffic_check(const struct hx_spec *spec, const struct hx_fabric *g, const struct hx_settings *settings,
                   struct hx_problem *problem);

#endif
