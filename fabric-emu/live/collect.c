/* collect.c - gathers results from shared memory after the workers have ended (collect.h). */
#include "collect.h"
#include "fabric-emu/memory.h"
#include "fabric-emu/report/gather.h"

/* Counts of an external endpoint as its peers know them: it received what it acknowledged, and sent what arrived
 * complete. */
static struct hx_endpoint_stats stats_of(const struct fab_exchange *e)
{
    return (struct hx_endpoint_stats){.messages_received = e->to.messages,
                                      .packets_delivered = e->to.packets,
                                      .bytes_delivered = e->to.bytes,
                                      .messages_sent = e->from.messages,
                                      .packets_sent = e->from.packets};
}

static void take_areas(struct result *r, const struct fab_fabric *f)
{
    r->peak_memory_bytes = f->arena.bytes + memory_private_bytes();
    for (unsigned w = 0; w < f->workers; w++) {
        const struct fab_area *area = &f->area[w];
        gather_worker(r, &(struct gathered_worker){.drops = area->drops,
                                                   .stalls = area->stalls,
                                                   .bytes_corrupted = area->bytes_corrupted,
                                                   .cpu_ns = hx_metrics_get(&f->metrics.worker[w].cpu_ns),
                                                   .verify_ns = area->verify_ns,
                                                   .private_bytes = area->private_bytes,
                                                   .max_vc = area->max_vc});
    }
}

static void take_accelerators(struct result *r, const struct fab_fabric *f)
{
    for (uint32_t rank = 0; rank < f->g->hosts; rank++) {
        gather_accelerator(r, &f->jobs, rank, &f->accelerator[rank].stats, f->accelerator[rank].issued);
        for (unsigned e = 0; e < f->spec.externals; e++) {
            const struct fab_exchange *exchange = &f->exchange[(size_t)e * f->g->hosts + rank];
            const struct hx_endpoint_stats stats = stats_of(exchange);
            gather_accelerator(r, &f->jobs, rank, &stats, exchange->from.messages);
        }
    }
    for (uint32_t i = 0; r->outcome.job_bytes && i < r->jobs; i++)
        r->job[i].bytes_measured = r->outcome.job_bytes[i];
}

/* What a link's busy share relates to. */
struct measured {
    const struct hx_metrics *metrics;
    const uint64_t *bytes_before; /* at the end of the warm-up; NULL: there was none */
    double bytes;                 /* capacity of a link in that time */
};

static double busy(const void *of, unsigned plane, uint32_t link)
{
    const struct measured *m = of;
    (void)plane;
    uint64_t before = m->bytes_before ? m->bytes_before[link] : 0;
    return (double)(hx_metrics_get(&m->metrics->link[link].bytes) - before) / m->bytes;
}

static void take_links(struct result *r, const struct fab_fabric *f, const struct warm_up *warm_up)
{
    uint64_t drained = r->outcome.drained_ns > warm_up->over_ns ? r->outcome.drained_ns - warm_up->over_ns : 0;
    uint64_t ns = drained > r->outcome.elapsed_ns ? drained : r->outcome.elapsed_ns;
    const struct measured measured = {&f->metrics, warm_up->link_bytes, (double)(ns ? ns : 1) / 1e9 * r->link_rate};
    gather_links(r, &f->metrics, &f->layout, busy, &measured);
}

static void take_collective(struct result *r, const struct fab_fabric *f)
{
    uint32_t done = 0;
    for (uint32_t rank = 0; rank < f->g->hosts; rank++)
        done += atomic_load(&f->accelerator[rank].collective_done);
    gather_collective(r, done);
}

void collect(struct result *r, const struct collected *c)
{
    const struct fab_fabric *f = c->f;
    *r = (struct result){.context = *c->context,
                         .spec = &f->spec,
                         .g = f->g,
                         .workers = f->workers,
                         .settings = *c->settings,
                         .outcome = *c->outcome,
                         .link_rate = HX_NOMINAL_LINK_RATE};
    result_jobs(r, &f->jobs, f->job);
    take_areas(r, f);
    take_accelerators(r, f);
    take_links(r, f, c->warm_up);
    if (r->context.collective)
        take_collective(r, f);
    r->fault = faults_report(c->faults, &r->faults);
    r->circuits = circuits_report_of(&c->faults->schedule, f->g, c->outcome->drained_ns);
    circuits_report_follow(&r->circuits, r->fault, r->faults);
    for (unsigned w = 0; w < f->workers; w++)
        r->circuits.rerouted += f->area[w].rerouted;
    result_finish(r);
}
