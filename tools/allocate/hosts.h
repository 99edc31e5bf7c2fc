/* hosts.h - hxmesh allocate on a fabric without boards: jobs get hosts. */
#ifndef HXMESH_TOOLS_ALLOCATE_HOSTS_H
#define HXMESH_TOOLS_ALLOCATE_HOSTS_H

#include "spec/jobs.h"

#include <jansson.h>

/* A requested job and its result. */
struct hosts_job {
    const char *asked; /* "6", "3x2" */
    uint16_t tag;      /* 0: no room */
};

struct hosts_allocation {
    const struct hx_spec *spec;
    struct hosts_job *job; /* [jobs], in the order asked */
    unsigned jobs;
    unsigned place; /* enum hx_hosts_rule */
};

/* Finds hosts for each job by `place` (enum hx_hosts_rule) and adds the jobs to the spec. Dies if a job is impossible
 * on every fabric, or if this fabric can have no jobs. */
void hosts_allocate(struct hosts_allocation *a, struct hx_spec *spec, unsigned place, char *const *asked,
                    unsigned jobs);
void hosts_free(struct hosts_allocation *a);

unsigned hosts_placed(const struct hosts_allocation *a);
void hosts_print(const struct hosts_allocation *a);
json_t *hosts_json(const struct hosts_allocation *a);
/* Writes a fabric file with all jobs, for hxmesh run. */
void hosts_write_file(const struct hosts_allocation *a, const char *path);

#endif
