/* interference.h - what jobs do to each other: each runs alone, then all together, on the same boards, in simulated
 * time.
 *
 * On which cables a job's packets go, its run alone says. A packet crosses a foreign node if it leaves a host, or a
 * router all of whose hosts belong together, that is not the job's. */
#ifndef HXMESH_TOOLS_INTERFERENCE_H
#define HXMESH_TOOLS_INTERFERENCE_H

#include "spec/spec.h"

#include <jansson.h>

struct interference_job {
    const struct hx_job *job;
    char traffic[32];
    uint32_t hosts;
    double alone, together;   /* seconds, from its start to its last packet */
    uint32_t links;           /* that carry its packets, between switches */
    uint32_t shared;          /* of these carry another job's too */
    uint64_t packets;         /* over all links: each counts once a link */
    uint64_t shared_packets;  /* over those that are shared */
    uint64_t foreign_packets; /* that left a foreign node */
};

struct interference {
    const struct hx_spec *spec;
    unsigned jobs;
    struct interference_job *job; /* [jobs], in the order in which they are named */
};

/* Runs `hxmesh run SPEC --clock virtual` once for each job and once for all, with these further arguments (NULL at the
 * end). The spec has named jobs. Returns HX_EXIT_DONE, or how a run ended that failed; then there is nothing to
 * free. */
int interference_measure(struct interference *in, const struct hx_spec *spec, const char *const *arguments, bool quiet);
void interference_free(struct interference *in);

static inline double interference_slowdown(const struct interference_job *j)
{
    return j->alone > 0 ? j->together / j->alone : 1;
}

void interference_print(const struct interference *in);
json_t *interference_json(const struct interference *in);

#endif
