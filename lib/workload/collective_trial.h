/* collective_trial.h - the time of a collective by a short run of its messages (collective_packets.h). */
#ifndef COLLECTIVE_TRIAL_H
#define COLLECTIVE_TRIAL_H

#include "workload/collective_jobs.h"

struct collective_loads;

/* Returns the seconds of collectives that begin at once, one for each job. The hosts of the jobs differ. INFINITY: they
 * take more than `limit` seconds. After `hops` hops of packets, the rest is taken to go on unchanged. */
double collective_trial(const struct collective_job *job, uint32_t jobs, struct collective_loads *loads, double limit,
                        uint64_t hops);

#endif
