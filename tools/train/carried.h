/* carried.h - messages of a job, or of a collective, that go over the links of a fabric (workload/part_network.h) as a
 * run would send them.
 *
 * Data that flows. The schedule of all ranks and the algorithms of its collectives are those of a run
 * (workload/schedule_plan.h). Executors name the messages; a carrier (schedule/estimate.h) has their arrivals. Of what
 * has too many messages, a part is carried:
 *
 *     a job          whole, or not at all
 *     a collective   of all groups of a family, which begin it at once. Of a long vector two shorter ones: each further
 *                    byte takes as long as those by which the two differ */
#ifndef HXMESH_TOOLS_TRAIN_CARRIED_H
#define HXMESH_TOOLS_TRAIN_CARRIED_H

#include "workload/collective_loads.h"
#include "workload/schedule_plan.h"

/* Parts of all messages of a job, or UINT64_MAX: 10^6 take some seconds. */
uint64_t carried_parts(const struct schedule_job *job);

struct carried_times {
    double seconds;   /* end of the last operation */
    double computing; /* mean of the ranks */
};
/* Carries out the first job. Adds the bytes of links to load[ports]; NULL: not needed. Returns false if operations wait
 * for ever. */
bool carried_execute(const struct schedule_plan *p, const struct collective_loads *loads, struct carried_times *times,
                     double *load);

/* A collective of several groups of as many members. */
struct carried_collective {
    const uint32_t *host; /* [groups * size]: of group i from i * size on */
    uint32_t size, groups;
    enum hx_collective_kind kind;
    unsigned algorithm;     /* enum hx_algorithm */
    uint32_t root;          /* position in a group */
    const uint32_t *weight; /* [size * size]: shares of an all-to-all (schedule/shares.h); NULL: equal */
    uint64_t bytes;         /* of the vector */
};
/* Sets the seconds until the last group is done. Returns false if it has too many messages, or cannot be carried out,
 * or if groups have hosts in common. */
bool carried_collective(const struct carried_collective *c, const struct traffic *t,
                        const struct collective_loads *loads, double *seconds);

#endif
