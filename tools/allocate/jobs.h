/* jobs.h - jobs that were asked for on the command line, and the boards that each got. */
#ifndef HXMESH_TOOLS_ALLOCATE_JOBS_H
#define HXMESH_TOOLS_ALLOCATE_JOBS_H

#include "sched/placement.h"
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
    struct hx_boards boards; /* free: not failed, of no job of the spec's file, of none that was placed */
    unsigned usable;         /* boards that have not failed */
    unsigned taken;          /* boards of jobs of the file */
    unsigned jobs;
    struct allocate_job *job; /* [jobs], in the order asked */
};

/* Reads what each operand asks for, "N" boards or "COLUMNSxROWS", and dies of one that no fabric could have. */
void allocation_make(struct allocation *a, const struct hx_spec *spec, const struct hx_placement_rules *rules,
                     char *const *asked, unsigned jobs);
/* In the order asked, or the largest first. */
void allocation_place(struct allocation *a, bool sort);
unsigned allocation_placed(const struct allocation *a);
void allocation_free(struct allocation *a);

void allocation_print(const struct allocation *a);
json_t *allocation_json(const struct allocation *a);
/* A fabric's file with all its jobs, which hxmesh run takes. */
void allocation_write_file(const struct allocation *a, const char *path);

#endif
