/* interference.h - slowdown of jobs by each other: each runs alone, then all together, on the same boards, in simulated
 * time.
 *
 * The run alone shows which cables carry a job's packets. A foreign packet leaves a host of another job, or a router
 * with hosts of another job only. */
#ifndef HXMESH_TOOLS_INTERFERENCE_H
#define HXMESH_TOOLS_INTERFERENCE_H

#include "base/arguments.h"
#include "spec/spec.h"

#include <jansson.h>

struct interference_job {
    const struct hx_job *job;
    char traffic[32];
    uint32_t hosts;
    double alone, together;   /* seconds, from the job's start to its last packet */
    uint32_t links;           /* between switches, with packets of the job */
    uint32_t shared;          /* of these, links with packets of another job */
    uint64_t packets;         /* over all links, counted once a link */
    uint64_t shared_packets;  /* over shared links */
    uint64_t foreign_packets; /* that left a foreign node */
};

struct interference {
    const struct hx_spec *spec;
    unsigned jobs;
    struct interference_job *job; /* [jobs], in the order of the spec */
};

/* Runs `hxmesh run SPEC --clock virtual` once for each job and once for all, with more arguments.
 * The spec has named jobs. Returns HX_EXIT_DONE, or the exit code of the run that failed; then there is nothing to
 * free. */
int interference_measure(struct interference *in, const struct hx_spec *spec, const struct hx_arguments *more,
                         bool quiet);
void interference_free(struct interference *in);

static inline double interference_slowdown(const struct interference_job *j)
{
    return j->alone > 0 ? j->together / j->alone : 1;
}

void interference_print(const struct interference *in);
json_t *interference_json(const struct interference *in);

#endif
