/* jobs.h - the jobs of a fabric, and what each worker counts of each that it has accelerators of.
 *
 * A fabric whose spec names no jobs has one, with tag 0. Where it names some, the boards that none has are idle, and
 * counted with tag 0 all the same, since a file may be sent among them; a job whose boards have all failed is none. */
#ifndef JOBS_H
#define JOBS_H

#include "base/histogram.h"
#include "hxmesh/endpoint.h"
#include "spec/spec.h"
#include "workload/layout.h"

struct jobs {
    uint32_t count;
    uint16_t *tag;    /* [count] */
    uint32_t *size;   /* [count]: accelerators that are alive */
    uint32_t *of;     /* [accelerators]: its job; of one on a failed board JOBS_NONE */
    uint32_t slots;   /* pairs of a job and a worker that has some of it */
    uint32_t *slot;   /* [accelerators]; of one on a failed board that of no job, 0 */
    uint32_t *job_of; /* [slots] */
};
enum { JOBS_NONE = UINT32_MAX };

/* What one worker counts of one job: shared memory, [slots]. */
struct job_count {
    struct fab_histogram latency; /* ns, packets from injection to delivery */
    uint64_t bytes_corrupted;
    uint64_t last_ps;        /* from the start of the run to the last packet that came */
    uint64_t bytes_measured; /* virtual clock: payload delivered before the end of the duration */
};

void jobs_make(struct jobs *j, const struct hx_spec *spec, const struct hx_fabric *g, const struct layout *layout);
void jobs_free(struct jobs *j);

#endif
