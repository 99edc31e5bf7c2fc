/* traffic.h - messages of each accelerator and their destinations: the patterns of `hxmesh run`, or a file (flows.h).
 *
 * All of it is a function of (spec, settings, file), so that each worker has the same plan. Accelerators send within
 * their job, with the settings of the job or else of the run. Failed boards are left out, and boards of no job if jobs
 * are named. `message` numbers an accelerator's messages from 0. */
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
    struct hx_settings *own;                    /* [named jobs]: settings of each; NULL: the run's */
    uint16_t *own_of;                           /* [ranks]: index in `own` */
    const struct flows *flows;                  /* of HX_FLOWS; NULL: a pattern */
    uint32_t target[HX_VALUE_MOST_COORDINATES]; /* ranks: incast uses the first, a hotspot all */
    unsigned targets;
    uint32_t *member;   /* ranks, by job, then column by column */
    uint32_t *first;    /* [rank]: index in `member` of its job's first member */
    uint32_t *lowest;   /* [rank]: lowest rank of its job */
    uint32_t *members;  /* [rank]: members of its job; 0: it sends nothing */
    uint32_t *place;    /* [rank]: index in its job */
    uint32_t *shift;    /* [ranks], like member: distance of each message of the job's all-to-all, in order */
    uint32_t *partner;  /* [rank]: partner, in patterns with fixed partners; TRAFFIC_NOBODY: none */
    uint32_t *senders;  /* [rank]: number of hosts that have it as partner */
    struct peers peers; /* in patterns with a few fixed peers; else empty */
    /* Set after traffic_init(): */
    const uint8_t *chosen; /* collective_plan_require(); NULL: algorithms are to be chosen */
    bool quiet;            /* choices of algorithms show no progress */
};

/* Plans the traffic. *spec, *g and *flows (NULL: none) must outlive *t. */
void traffic_init(struct traffic *t, const struct hx_spec *spec, const struct hx_fabric *g,
                  const struct hx_settings *settings, const struct flows *flows);
void traffic_free(struct traffic *t);

static inline const struct hx_settings *traffic_settings(const struct traffic *t, uint32_t rank)
{
    return t->own ? &t->own[t->own_of[rank]] : &t->settings;
}

static inline bool traffic_is_collective(const struct traffic *t, uint32_t rank)
{
    return traffic_settings(t, rank)->pattern >= HX_COLLECTIVES;
}

static inline bool traffic_is_schedule(const struct traffic *t, uint32_t rank)
{
    return traffic_settings(t, rank)->pattern == HX_SCHEDULE;
}

/* Whether all hosts of its job work on one task: a collective or a schedule, without messages of a pattern. */
static inline bool traffic_is_common(const struct traffic *t, uint32_t rank)
{
    return traffic_is_collective(t, rank) || traffic_is_schedule(t, rank);
}

/* Whether any job that is not silent has a collective, a schedule, or one of both. */
bool traffic_has_collectives(const struct traffic *t);
bool traffic_has_schedules(const struct traffic *t);
bool traffic_has_common(const struct traffic *t);

/* Whether any job has settings of its own. */
bool traffic_jobs_differ(const struct traffic *t);

/* Target of incast, and root of a broadcast, in an accelerator's job. A job with its own pattern uses its lowest rank;
 * others use the run's target, which may be of another job. */
uint32_t traffic_target(const struct traffic *t, uint32_t rank);

/* Start of an accelerator's job, ns from the start of the run. */
uint64_t traffic_job_start_ns(const struct traffic *t, uint32_t rank);

/* Number of messages of an accelerator, without those of collectives. UINT64_MAX: it sends until the end of the
 * duration. */
uint64_t traffic_messages(const struct traffic *t, uint32_t rank);

/* Payload of all messages, of traffic that ends. */
double traffic_bytes_of_all(const struct traffic *t);

/* Offered load of all senders, as a share of the injection bandwidth of all hosts. */
double traffic_share_offered(const struct traffic *t);

/* Number of hosts that an accelerator sends to; upper bound of hosts that it sends to or receives from. */
uint32_t traffic_destinations(const struct traffic *t, uint32_t rank);
uint32_t traffic_peers(const struct traffic *t, uint32_t rank);

/* Number of messages from one accelerator to another; 0 for endless traffic. */
uint64_t traffic_messages_between(const struct traffic *t, uint32_t from, uint32_t to);

/* Destination, bytes, and earliest start of an accelerator's message. The message must exist. */
uint32_t traffic_destination(const struct traffic *t, uint32_t rank, uint64_t message);
uint64_t traffic_bytes(const struct traffic *t, uint32_t rank, uint64_t message);
uint64_t traffic_start_ns(const struct traffic *t, uint32_t rank, uint64_t message);

/* Random interval before a message, in units of the mean interval. */
double traffic_interval(const struct traffic *t, uint32_t rank, uint64_t message);

/* Whether the settings of all jobs are possible on this fabric. Collectives are checked only in part
 * (collective_jobs.h). */
bool traffic_check(const struct hx_spec *spec, const struct hx_fabric *g, const struct hx_settings *settings,
                   struct hx_problem *problem);

#endif
