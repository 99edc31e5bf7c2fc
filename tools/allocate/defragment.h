/* defragment.h - moves jobs to make room for others; reports the moves, their bytes, and messages for hxmesh run. */
#ifndef HXMESH_TOOLS_ALLOCATE_DEFRAGMENT_H
#define HXMESH_TOOLS_ALLOCATE_DEFRAGMENT_H

#include "tools/allocate/jobs.h"

/* A job of the file, with its first and last placement. */
struct defragment_job {
    uint16_t tag;
    unsigned named;               /* index in spec->named */
    struct hx_placement from, to; /* to.shape 0 x 0: the job stays */
};

struct defragment {
    const struct hx_spec *spec;
    struct defragment_job *job; /* [jobs] that may move */
    unsigned jobs;
    uint64_t state;  /* bytes that each accelerator of a moved job transfers */
    unsigned before; /* boards in use without the jobs that found no room */
};

/* Makes room for the unplaced jobs of *a, one after the other, by moving jobs of *spec. */
void defragment_run(struct defragment *d, struct allocation *a, struct hx_spec *spec, uint64_t state);
void defragment_free(struct defragment *d);

void defragment_print(const struct defragment *d, const struct allocation *a);
json_t *defragment_json(const struct defragment *d, const struct allocation *a);
/* Writes a traffic file (docs/traffic.md): a message from each old accelerator to its new one, all at time 0. */
void defragment_write_moves(const struct defragment *d, const char *path);

#endif
