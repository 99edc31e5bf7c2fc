/* publish.c - copies a worker's counters to shared memory (publish.h). */
#include "publish.h"
#include "base/processor.h"

static uint32_t publish_links(const struct worker *w)
{
    uint32_t links = 0;
    for (uint32_t i = 0; i < w->sim_nodes; i++) {
        const struct virtual_sim_node *e = w->sim_node[i];
        for (unsigned plane = 0; plane < e->planes; plane++) {
            const struct hal_switch *h = &e->node[plane].hal;
            struct hx_metrics_link *link = model_link(w->m, h->tx[0].link);
            for (unsigned port = 0; port < h->ports; port++, links++) {
                hx_metrics_set(&link[port].packets, h->tx[port].sum.packets);
                hx_metrics_set(&link[port].bytes, h->tx[port].sum.blocks * HX_BLOCK);
            }
        }
    }
    return links;
}

static void publish_operations(const struct worker *w, struct hx_metrics_worker *m)
{
    struct schedule_progress sum = {0, 0};
    for (uint32_t i = 0; i < w->accelerators; i++)
        schedule_plan_add(w->m->workload.schedule, w->driver[i].rank, &sum);
    hx_metrics_set_operations(m, sum.ended, sum.open);
}

uint64_t publish(const struct worker *w, uint64_t now)
{
    struct hx_metrics_worker *m = &w->m->metrics.worker[w->self];
    hx_metrics_begin(m);
    uint32_t links = publish_links(w);
    for (uint32_t i = 0; i < w->accelerators; i++)
        hx_metrics_set_accelerator(&w->m->metrics.accelerator[w->driver[i].rank], &w->driver[i].endpoint.stats);
    if (w->m->workload.schedule)
        publish_operations(w, m);
    hx_metrics_set(&m->simulated_ps, now);
    uint64_t at = hx_metrics_now();
    hx_metrics_end(m, at, hx_processor_ns(), w->v.hops, w->area->bytes_corrupted, w->area->drops);
    return at + hx_metrics_period(links);
}
