/* defragment.h - moves of jobs that make room for others: which, how many bytes, and as messages that hxmesh run
 * carries. */
#ifndef HXMESH_TOOLS_ALLOCATE_DEFRAGMENT_H
#define HXMESH_TOOLS_ALLOCATE_DEFRAGMENT_H

#include "tools/allocate/jobs.h"

/* A job of the file, where it stood and where it stands in the end. */
struct defragment_job {
    uint16_t tag;
    unsigned named;               /* which of the spec's */
    struct hx_placement from, to; /* to.shape 0 x 0: it stays */
};

struct defragment {
    const struct hx_spec *spec;
    struct defragment_job *job; /* [jobs] that may move */
    unsigned jobs;
    uint64_t state;  /* bytes that each accelerator of a job that moves has to take along */
    unsigned before; /* boards in use, before those that found no room */
};

/* Makes room for the jobs of *a that found none, one after the other, by moving jobs of its spec, which is *spec. */
void defragment_run(struct defragment *d, struct allocation *a, struct hx_spec *spec, uint64_t state);
void defragment_free(struct defragment *d);

void defragment_print(const struct defragment *d, const struct allocation *a);
json_t *defragment_json(const struct defragment *d, const struct allocation *a);
/* A list of messages (docs/traffic.md): each accelerator's state to the one that takes its place, all at once. */
void defragment_write_moves(const struct defragment *d, const char *path);

#endif
