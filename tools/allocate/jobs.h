/* jobs.h - jobs named on the command line, and the boards that each got. */
#ifndef HXMESH_TOOLS_ALLOCATE_JOBS_H
#define HXMESH_TOOLS_ALLOCATE_JOBS_H

#include "allocation/placement.h"
#include "spec/spec.h"

#include <jansson.h>

struct allocate_job {
    const char *asked; /* "6", "3x2" */
    struct hx_shape shape;
    uint16_t tag;
    bool placed;
    struct hx_placement placement;
};

struct allocation {
    const struct hx_spec *spec;
    const struct hx_placement_rules *rules;
    struct hx_boards boards; /* free: neither failed, nor of a job of the file, nor of a placed job */
    unsigned usable;         /* boards that have not failed */
    unsigned taken;          /* boards of jobs of the file */
    unsigned jobs;
    struct allocate_job *job; /* [jobs], in the order asked */
};

/* Parses each operand, "N" boards or "COLUMNSxROWS". Dies if no fabric could have such a job. */
void allocation_make(struct allocation *a, const struct hx_spec *spec, const struct hx_placement_rules *rules,
                     char *const *asked, unsigned jobs);
/* Places the jobs in the order asked, or the largest first. */
void allocation_place(struct allocation *a, bool sort);
unsigned allocation_placed(const struct allocation *a);
void allocation_free(struct allocation *a);

void allocation_print(const struct allocation *a);
json_t *allocation_json(const struct allocation *a);
/* Writes a fabric file with all jobs, for hxmesh run. */
void allocation_write_file(const struct allocation *a, const char *path);

#endif
