/* estimate.h - time of a job without packets.
 *
 * Data that flows. From the job, its schedule; from the settings, a host for each rank. Then one of two ways:
 *
 *     few messages    all ranks execute the schedule, and each message goes over the links (carried.h)
 *     more            collectives become computing of the time that they take (network.h); of a model one rank of each
 *                     stage is executed. Messages take latency and bytes of their routes
 *
 * Quick estimates, of a job with a memory, share it: a collective is found once for all of them, with algorithms chosen
 * without trials of packets. They take the second way, and say nothing of links and bytes.
 *
 * Times on a network on which everything arrives at once come from the second way. */
#ifndef HXMESH_TOOLS_TRAIN_ESTIMATE_H
#define HXMESH_TOOLS_TRAIN_ESTIMATE_H

#include "spec/spec.h"
#include "tools/train/job.h"
#include "tools/train/spent.h"

/* Seconds of all iterations; means of the ranks but `seconds` and `ideal`. */
struct train_estimate {
    double seconds;           /* end of the last operation */
    double ideal;             /* the same on a network on which everything arrives at once */
    double computing;         /* of a rank */
    struct train_spent spent; /* of an iteration; spent_free() frees it */
};

/* Hosts that can have a rank: those that live. */
uint32_t train_estimate_hosts(const struct hx_spec *spec, const struct hx_settings *settings);

/* settings: of a run of this job on the spec's fabric. timing: complete. timeline: file that receives what each rank
 * did, or each stage of a model in the second way; NULL: none. Returns false and sets *problem if the run would be
 * refused. */
bool train_estimate_make(struct train_estimate *e, const struct train_job *job, const struct hx_spec *spec,
                         const struct hx_settings *settings, const struct hx_timing *timing, const char *timeline,
                         struct hx_problem *problem);

#endif
