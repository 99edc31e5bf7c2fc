/* warm_up.c - copies counters at the end of the warm-up (warm_up.h). */
#include "warm_up.h"

#include <stdlib.h>

void warm_up_count(const struct fab_fabric *f, uint64_t *bytes, uint64_t *packets, uint64_t *hops)
{
    *bytes = *packets = *hops = 0;
    for (uint32_t rank = 0; rank < f->g->hosts; rank++) {
        *bytes += f->accelerator[rank].stats.bytes_delivered;
        *packets += f->accelerator[rank].stats.packets_delivered;
    }
    for (unsigned w = 0; w < f->workers; w++)
        *hops += atomic_load(&f->area[w].hops);
}

uint64_t *warm_up_count_jobs(const struct fab_fabric *f)
{
    uint64_t *bytes = hx_allocate(f->jobs.count, sizeof *bytes);
    for (uint32_t rank = 0; rank < f->g->hosts; rank++)
        if (f->jobs.of[rank] != JOBS_NONE)
            bytes[f->jobs.of[rank]] += f->accelerator[rank].stats.bytes_delivered;
    return bytes;
}

void warm_up_end(struct warm_up *w, const struct fab_fabric *f, uint64_t now_ns)
{
    uint32_t ports = fab_ports(f);
    w->over_ns = now_ns;
    warm_up_count(f, &w->bytes, &w->packets, &w->hops);
    w->job_bytes = warm_up_count_jobs(f);
    w->link_bytes = hx_allocate(ports, sizeof *w->link_bytes);
    for (uint32_t port = 0; port < ports; port++)
        w->link_bytes[port] = hx_metrics_get(&f->metrics.link[port].bytes);
}

void warm_up_free(struct warm_up *w)
{
    free(w->link_bytes);
    free(w->job_bytes);
    w->link_bytes = NULL;
    w->job_bytes = NULL;
}
