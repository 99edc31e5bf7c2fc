/* jobs.h - the jobs of a fabric, and the counters that each worker keeps of each of its jobs.
 *
 * A fabric without named jobs has one job, tag 0. Otherwise boards of no job are idle, but counted under tag 0, since a
 * file may be sent among them. A job is left out if all its boards have failed. */
#ifndef JOBS_H
#define JOBS_H

#include "base/histogram.h"
#include "hxmesh/endpoint.h"
#include "spec/spec.h"
#include "workload/layout.h"

struct jobs {
    uint32_t count;
    uint16_t *tag;    /* [count] */
    uint32_t *size;   /* [count]: living accelerators */
    uint32_t *of;     /* [accelerators]: job; JOBS_NONE on a failed board */
    uint32_t slots;   /* pairs of a job and a worker that owns some of it */
    uint32_t *slot;   /* [accelerators]: slot; 0, unused, on a failed board */
    uint32_t *job_of; /* [slots] */
};
enum { JOBS_NONE = UINT32_MAX };

/* One worker's counters of one job: shared memory, [slots]. */
struct job_count {
    struct fab_histogram latency; /* ns, data packets to their delivery, from generation if it is known, or injection */
    struct fab_histogram network; /* ns, of the same from injection, if generation is known */
    uint64_t bytes_corrupted;
    uint64_t last_ps;        /* from the start of the run to the last packet that arrived */
    uint64_t bytes_measured; /* virtual clock: payload delivered before the end of the duration */
};

void jobs_make(struct jobs *j, const struct hx_spec *spec, const struct hx_fabric *g, const struct layout *layout);
void jobs_free(struct jobs *j);

#endif
