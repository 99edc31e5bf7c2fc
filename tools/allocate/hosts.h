/* hosts.h - hxmesh allocate on a fabric without boards: jobs get hosts. */
#ifndef HXMESH_TOOLS_ALLOCATE_HOSTS_H
#define HXMESH_TOOLS_ALLOCATE_HOSTS_H

#include "spec/jobs.h"

#include <jansson.h>

/* What was asked for, and the job that came of it. */
struct hosts_job {
    const char *asked; /* "6", "3x2" */
    uint16_t tag;      /* 0: it found no room */
};

struct hosts_allocation {
    const struct hx_spec *spec;
    struct hosts_job *job; /* [jobs], in the order asked */
    unsigned jobs;
    unsigned place; /* enum hx_hosts_rule */
};

/* Finds hosts for each job by the rule (enum hx_hosts_rule), which the spec has from then on; dies of a job that no
 * fabric could have, and of a fabric that can have none. */
void hosts_allocate(struct hosts_allocation *a, struct hx_spec *spec, unsigned place, char *const *asked,
                    unsigned jobs);
void hosts_free(struct hosts_allocation *a);

unsigned hosts_placed(const struct hosts_allocation *a);
void hosts_print(const struct hosts_allocation *a);
json_t *hosts_json(const struct hosts_allocation *a);
/* A fabric's file with all its jobs, which hxmesh run takes. */
void hosts_write_file(const struct hosts_allocation *a, const char *path);

#endif
