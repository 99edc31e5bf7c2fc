/* gather.c - sums over all workers (gather.h). */
#include "fabric-emu/report/gather.h"
#include "base/error.h"

void gather_worker(struct result *r, const struct gathered_worker *w)
{
    r->bytes_corrupted += w->bytes_corrupted;
    r->max_vc = w->max_vc > r->max_vc ? w->max_vc : r->max_vc;
    r->cpu_seconds += (double)w->cpu_ns / 1e9;
    r->verify_seconds += (double)w->verify_ns / 1e9;
    r->peak_memory_bytes += w->private_bytes;
    for (unsigned reason = 0; reason < HX_DROP_COUNT; reason++)
        r->drops[reason] += w->drops[reason];
    for (unsigned cause = 0; cause < HX_STALL_COUNT; cause++)
        r->stalls[cause] += w->stalls[cause];
}

void gather_accelerator(struct result *r, const struct jobs *jobs, uint32_t rank, const struct hx_endpoint_stats *stats,
                        uint64_t begun)
{
    result_add_stats(&r->sum, stats);
    r->messages_begun += begun;
    r->senders += begun > 0;
    if (jobs->of[rank] == JOBS_NONE)
        return;
    struct result_job *job = &r->job[jobs->of[rank]];
    result_add_stats(&job->sum, stats);
    job->messages_begun += begun;
}

void gather_collective(struct result *r, uint32_t done)
{
    const struct collective_plan *plan = r->context.collective;
    r->collective_count.done = done;
    for (uint32_t rank = 0; rank < r->g->hosts; rank++)
        r->collective_count.members += collective_job_of(plan, rank) != NULL;
}

void gather_links(struct result *r, const struct hx_metrics *metrics, const struct layout *layout,
                  double (*busy)(const void *of, unsigned plane, uint32_t link), const void *of)
{
    const struct hx_fabric *g = r->g;
    uint32_t link = 0; /* ports are numbered by plane, node and port */
    r->link = hx_allocate((size_t)g->planes * layout->links, sizeof *r->link);
    r->moved = hx_allocate(g->hosts, sizeof *r->moved);
    for (unsigned plane = 0; plane < g->planes; plane++) {
        for (uint32_t node = 0; node < g->nodes; node++) {
            for (unsigned port = 0; port < hx_fabric_ports(g, node); port++, link++) {
                uint64_t packets = hx_metrics_get(&metrics->link[link].packets);
                r->packet_hops += packets;
                if (node < g->hosts)
                    r->moved[node] += packets;
                if (hx_fabric_far(g, node, port).node != HX_NOWHERE)
                    r->link[r->links++] =
                        (struct link_use){node, (uint16_t)port, (uint8_t)plane, packets, busy(of, plane, link)};
            }
        }
    }
}
