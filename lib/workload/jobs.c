/* jobs.c - numbers jobs, and slots for counters (jobs.h). */
#include "workload/jobs.h"

#include <stdlib.h>

enum { TAGS = UINT16_MAX + 1 };

static uint32_t job_of(struct jobs *j, uint32_t *by_tag, uint16_t tag)
{
    if (by_tag[tag] == 0) {
        j->tag[j->count] = tag;
        by_tag[tag] = ++j->count;
    }
    return by_tag[tag] - 1;
}

void jobs_make(struct jobs *j, const struct hx_spec *spec, const struct hx_fabric *g, const struct layout *layout)
{
    uint32_t most = hx_spec_boards(spec); /* of jobs and slots: a board has one job and one worker */
    uint32_t *by_tag = hx_allocate(TAGS, sizeof *by_tag);
    uint32_t *slot_of = hx_allocate((size_t)most * layout->workers, sizeof *slot_of);
    *j = (struct jobs){.count = 0};
    j->tag = hx_allocate(most, sizeof *j->tag);
    j->size = hx_allocate(most, sizeof *j->size);
    j->of = hx_allocate(g->hosts, sizeof *j->of);
    j->slot = hx_allocate(g->hosts, sizeof *j->slot);
    j->job_of = hx_allocate(most, sizeof *j->job_of);
    for (uint32_t rank = 0; rank < g->hosts; rank++) {
        j->of[rank] = JOBS_NONE;
        if (layout->dead[rank])
            continue;
        uint32_t job = job_of(j, by_tag, layout_job_of(spec, rank));
        uint32_t *slot = &slot_of[(size_t)job * layout->workers + layout->worker[rank]];
        if (*slot == 0) {
            j->job_of[j->slots] = job;
            *slot = ++j->slots;
        }
        j->of[rank] = job;
        j->slot[rank] = *slot - 1;
        j->size[job]++;
    }
    free(by_tag);
    free(slot_of);
}

void jobs_free(struct jobs *j)
{
    HX_FREE(j->tag, j->size, j->of, j->slot, j->job_of);
}
