/* collect.c - gathers what a run showed out of the shared memory, after the workers have ended (collect.h). */
#include "collect.h"
#include "fabric-emu/memory.h"

/* What is known here of the endpoints that run elsewhere: they received what they acknowledged, and sent what came whole.
 * Their other halves are in this accelerator's own counts. */
static void take_exchange(struct hx_endpoint_stats *sum, uint64_t *begun, const struct fab_exchange *e)
{
    sum->messages_received += e->to.messages;
    sum->packets_delivered += e->to.packets;
    sum->bytes_delivered += e->to.bytes;
    sum->messages_sent += e->from.messages;
    sum->packets_sent += e->from.packets;
    *begun += e->from.messages;
}

static void take_areas(struct result *r, const struct fab_fabric *f)
{
    r->peak_memory_bytes = f->arena.bytes + memory_private_bytes();
    for (unsigned w = 0; w < f->workers; w++) {
        const struct fab_area *area = &f->area[w];
        r->bytes_corrupted += area->bytes_corrupted;
        r->max_vc = area->max_vc > r->max_vc ? area->max_vc : r->max_vc;
        r->cpu_seconds += (double)hx_metrics_get(&f->metrics.worker[w].cpu_ns) / 1e9;
        r->verify_seconds += (double)area->verify_ns / 1e9;
        r->peak_memory_bytes += area->private_bytes;
        for (unsigned reason = 0; reason < HX_DROP_COUNT; reason++)
            r->drops[reason] += area->drops[reason];
    }
    for (uint32_t rank = 0; rank < f->g.accelerators; rank++) {
        result_add_stats(&r->sum, &f->accelerator[rank].stats);
        r->messages_begun += f->accelerator[rank].issued;
    }
    for (size_t i = 0; i < (size_t)f->spec.externals * f->g.accelerators; i++)
        take_exchange(&r->sum, &r->messages_begun, &f->exchange[i]);
}

static void take_jobs(struct result *r, const struct fab_fabric *f)
{
    result_jobs(r, &f->jobs, f->job);
    for (uint32_t rank = 0; rank < f->g.accelerators; rank++) {
        if (f->jobs.of[rank] == JOBS_NONE)
            continue;
        struct result_job *job = &r->job[f->jobs.of[rank]];
        result_add_stats(&job->sum, &f->accelerator[rank].stats);
        job->messages_begun += f->accelerator[rank].issued;
        for (unsigned e = 0; e < f->spec.externals; e++)
            take_exchange(&job->sum, &job->messages_begun, &f->exchange[(size_t)e * f->g.accelerators + rank]);
    }
    for (uint32_t i = 0; r->outcome.job_bytes && i < r->jobs; i++)
        r->job[i].bytes_measured = r->outcome.job_bytes[i];
}

static void take_links(struct result *r, const struct fab_fabric *f, const struct warm_up *warm_up)
{
    uint64_t drained = r->outcome.drained_ns > warm_up->over_ns ? r->outcome.drained_ns - warm_up->over_ns : 0;
    uint64_t measured = drained > r->outcome.elapsed_ns ? drained : r->outcome.elapsed_ns;
    double elapsed = (double)(measured ? measured : 1) / 1e9;
    r->link = hx_allocate((size_t)f->g.planes * f->layout.links, sizeof *r->link);
    r->moved = hx_allocate(f->g.accelerators, sizeof *r->moved);
    for (unsigned plane = 0; plane < f->g.planes; plane++) {
        for (uint32_t node = 0; node < f->g.nodes; node++) {
            for (unsigned port = 0; port < hx_node_ports(&f->g, node); port++) {
                uint32_t number = fab_first_port(f, plane, node) + port;
                const struct hx_metrics_link *link = &f->metrics.link[number];
                uint64_t before = warm_up->link_bytes ? warm_up->link_bytes[number] : 0;
                uint64_t packets = hx_metrics_get(&link->packets);
                r->packet_hops += packets;
                if (node < f->g.accelerators)
                    r->moved[node] += packets;
                if (hx_far_end(&f->g, node, port).node == HX_NOWHERE)
                    continue;
                r->link[r->links++] =
                    (struct link_use){node, (uint16_t)port, (uint8_t)plane, packets,
                                      (double)(hx_metrics_get(&link->bytes) - before) / r->link_rate / elapsed};
            }
        }
    }
}

void collect(struct result *r, const struct fab_fabric *f, const struct hx_settings *settings,
             const struct outcome *outcome, const struct warm_up *warm_up)
{
    *r = (struct result){
        .spec = &f->spec, .g = &f->g, .workers = f->workers, .settings = *settings, .outcome = *outcome};
    r->link_rate = HX_NOMINAL_LINK_RATE;
    take_areas(r, f);
    take_jobs(r, f);
    take_links(r, f, warm_up);
    result_finish(r);
}
