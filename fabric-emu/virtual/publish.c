/* publish.c - copies a worker's counters to shared memory (publish.h). */
#include "publish.h"
#include "base/error.h"
#include "base/processor.h"

#include <stdlib.h>
#include <string.h>

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

static void publish_operations(const struct worker *w, struct hx_metrics_worker *to)
{
    struct schedule_progress sum = {0, 0};
    for (uint32_t i = 0; i < w->accelerators; i++)
        schedule_plan_add(w->m->workload.schedule, w->driver[i].rank, &sum);
    hx_metrics_set_operations(to, sum.ended, sum.open);
}

uint64_t publish(const struct worker *w, uint64_t now)
{
    struct hx_metrics_worker *to = &w->m->metrics.worker[w->self];
    hx_metrics_begin(to);
    uint32_t links = publish_links(w);
    for (uint32_t i = 0; i < w->accelerators; i++)
        hx_metrics_set_accelerator(&w->m->metrics.accelerator[w->driver[i].rank], &w->driver[i].endpoint.stats);
    if (w->m->workload.schedule)
        publish_operations(w, to);
    hx_metrics_set(&to->simulated_ps, now);
    uint64_t at = hx_metrics_now();
    hx_metrics_end(to, at, hx_processor_ns(), w->v.hops, w->area->bytes_corrupted, w->area->drops, w->area->stalls);
    return at + hx_metrics_period(links);
}

/* ---- over ranks ---- */

/* What a record carries. */
enum { OF_LINKS, OF_ACCELERATOR, OF_WORKER, OF_PROGRESS };

/* Counters of one kind; they follow. */
struct counters {
    uint64_t first; /* index of the first one in the array of the kind */
};

static void send_counters(const struct worker *w, uint32_t kind, uint64_t first, const void *from, size_t bytes)
{
    struct virtual_record *r = virtual_channel_send(w->v.channel, 0, (uint32_t)(sizeof(struct counters) + bytes));
    struct counters *counters = (struct counters *)(void *)(r + 1);
    r->data = kind;
    counters->first = first;
    memcpy(counters + 1, from, bytes);
}

static void send_all(const struct worker *w)
{
    const struct hx_metrics *metrics = &w->m->metrics;
    for (uint32_t i = 0; i < w->sim_nodes; i++) {
        const struct virtual_sim_node *e = w->sim_node[i];
        for (unsigned plane = 0; plane < e->planes; plane++) {
            const struct hal_switch *h = &e->node[plane].hal;
            const struct hx_metrics_link *link = model_link(w->m, h->tx[0].link);
            send_counters(w, OF_LINKS, (uint64_t)(link - metrics->link), link, h->ports * sizeof *link);
        }
    }
    for (uint32_t i = 0; i < w->accelerators; i++) {
        uint32_t rank = w->driver[i].rank;
        send_counters(w, OF_ACCELERATOR, rank, &metrics->accelerator[rank], sizeof metrics->accelerator[rank]);
    }
    send_counters(w, OF_PROGRESS, w->self, w->progress, sizeof *w->progress);
    send_counters(w, OF_WORKER, w->self, &metrics->worker[w->self], sizeof metrics->worker[w->self]);
}

static void copy_words(void *to, const void *from, size_t bytes)
{
    _Atomic uint64_t *out = to;
    for (size_t i = 0; i < bytes / sizeof *out; i++) {
        uint64_t word;
        memcpy(&word, (const uint8_t *)from + i * sizeof word, sizeof word);
        hx_metrics_set(&out[i], word);
    }
}

/* Ends the publication of a worker of another machine, at a time of this one's clock. */
static void take_worker(struct hx_metrics_worker *to, const struct hx_metrics_worker *from)
{
    uint64_t drops[HX_DROP_COUNT];
    uint64_t stalls[HX_STALL_COUNT];
    for (unsigned reason = 0; reason < HX_DROP_COUNT; reason++)
        drops[reason] = hx_metrics_get(&from->drops[reason]);
    for (unsigned cause = 0; cause < HX_STALL_COUNT; cause++)
        stalls[cause] = hx_metrics_get(&from->stalls[cause]);
    atomic_store(&to->state, HX_WORKER_RUNNING);
    atomic_store(&to->pid, atomic_load(&from->pid));
    hx_metrics_set(&to->simulated_ps, hx_metrics_get(&from->simulated_ps));
    hx_metrics_set_operations(to, hx_metrics_get(&from->operations_ended), hx_metrics_get(&from->operations_open));
    hx_metrics_end(to, hx_metrics_now(), hx_metrics_get(&from->cpu_ns), hx_metrics_get(&from->hops),
                   hx_metrics_get(&from->bytes_corrupted), drops, stalls);
}

static void take_counters(const struct model *m, const struct virtual_record *r)
{
    const struct counters *counters = (const void *)virtual_record_frame(r);
    size_t bytes = r->frame_bytes - sizeof *counters;
    struct hx_metrics_worker worker = {0};
    switch (r->data) {
    case OF_LINKS:
        copy_words(&m->metrics.link[counters->first], counters + 1, bytes);
        break;
    case OF_ACCELERATOR:
        copy_words(&m->metrics.accelerator[counters->first], counters + 1, bytes);
        break;
    case OF_PROGRESS:
        copy_words(&m->progress[counters->first], counters + 1, bytes);
        break;
    case OF_WORKER:
        memcpy(&worker, counters + 1, bytes < sizeof worker ? bytes : sizeof worker);
        take_worker(&m->metrics.worker[counters->first], &worker);
        break;
    default: /* no other is sent */
        break;
    }
}

/* Worker 0 meets all, the others only worker 0. */
static void meet_first(const struct worker *w)
{
    bool *met = hx_allocate(w->m->workers, sizeof *met);
    met[0] = true;
    for (unsigned other = 1; w->self == 0 && other < w->m->workers; other++)
        met[other] = true;
    virtual_channel_meet(w->v.channel, met);
    free(met);
}

uint64_t publish_of_ranks(struct worker *w)
{
    const struct model *m = w->m;
    const struct virtual_record *r;
    struct virtual_turn turn = {0};
    (void)publish(w, atomic_load_explicit(&w->progress->now, memory_order_relaxed));
    meet_first(w);
    if (w->self)
        send_all(w);
    model_turn(m, &turn);
    for (unsigned other = 1; w->self == 0 && other < m->workers; other++)
        hx_metrics_begin(&m->metrics.worker[other]);
    while ((r = virtual_channel_receive(w->v.channel)))
        take_counters(m, r);
    virtual_channel_meet(w->v.channel, w->neighbour);
    w->shows = false;
    return hx_metrics_now() + hx_metrics_period(m->g->planes * m->g->ports);
}
