/* metrics.c - lays out and writes the counters of a running fabric (topology/metrics.h). */
#include "topology/metrics.h"
#include "base/clock.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static size_t align(size_t bytes)
{
    return (bytes + 63) & ~(size_t)63;
}

size_t hx_metrics_place(struct hx_metrics *m, const struct hx_fabric *g, unsigned workers, uint8_t *base, size_t at)
{
    uintptr_t start = (uintptr_t)base;
    m->head = (void *)start;
    at = align(at > sizeof *m->head ? at : sizeof *m->head);
    m->worker = (void *)(start + at);
    at += workers * sizeof *m->worker;
    m->accelerator = (void *)(start + at);
    at += g->hosts * sizeof *m->accelerator;
    m->link = (void *)(start + at);
    at = align(at + (size_t)g->planes * g->ports * sizeof *m->link);
    m->owner = (void *)(start + at);
    at = align(at + g->nodes * sizeof *m->owner);
    m->graph = (void *)(start + at);
    return align(at + g->graph_bytes);
}

void hx_metrics_describe(const struct hx_metrics *m, const struct hx_fabric *g, unsigned workers, unsigned clock)
{
    struct hx_metrics_head *h = m->head;
    const uint8_t *base = (const uint8_t *)h;
    h->version = HX_METRICS_VERSION;
    h->head_bytes = sizeof *h;
    h->pid = (int32_t)getpid();
    h->clock = clock;
    h->a = g->mesh.a;
    h->b = g->mesh.b;
    h->x = g->mesh.x;
    h->y = g->mesh.y;
    h->planes = g->planes;
    h->radix = g->mesh.radix;
    h->taper = g->mesh.taper;
    h->workers = workers;
    h->accelerators = g->hosts;
    h->nodes = g->nodes;
    h->links = g->planes * g->ports;
    h->drops = HX_DROP_COUNT;
    h->worker_at = (uint64_t)((uint8_t *)m->worker - base);
    h->accelerator_at = (uint64_t)((uint8_t *)m->accelerator - base);
    h->link_at = (uint64_t)((uint8_t *)m->link - base);
    h->owner_at = (uint64_t)((uint8_t *)m->owner - base);
    h->graph_at = (uint64_t)((uint8_t *)m->graph - base);
    h->graph_bytes = g->graph_bytes;
    if (g->graph_bytes)
        memcpy(m->graph, g->graph_text, g->graph_bytes);
    h->magic = HX_METRICS_MAGIC;
}

/* ---- publishing ---- */

/* A link takes some 20 ns to copy. */
enum { LEAST_PERIOD_NS = 50000000, PERIOD_OF_LINK_NS = 4000 };

uint64_t hx_metrics_period(uint32_t links)
{
    return LEAST_PERIOD_NS + (uint64_t)links * PERIOD_OF_LINK_NS;
}

uint64_t hx_metrics_now(void)
{
    return hx_monotonic_ns();
}

void hx_metrics_begin(struct hx_metrics_worker *w)
{
    hx_metrics_set(&w->sequence, hx_metrics_get(&w->sequence) | 1);
    atomic_thread_fence(memory_order_release);
}

void hx_metrics_end(struct hx_metrics_worker *w, uint64_t at_ns, uint64_t cpu_ns, uint64_t hops,
                    uint64_t bytes_corrupted, const uint64_t drops[HX_DROP_COUNT],
                    const uint64_t stalls[HX_STALL_COUNT])
{
    hx_metrics_set(&w->at_ns, at_ns);
    hx_metrics_set(&w->cpu_ns, cpu_ns);
    hx_metrics_set(&w->hops, hops);
    hx_metrics_set(&w->bytes_corrupted, bytes_corrupted);
    for (unsigned reason = 0; reason < HX_DROP_COUNT; reason++)
        hx_metrics_set(&w->drops[reason], drops[reason]);
    for (unsigned cause = 0; cause < HX_STALL_COUNT; cause++)
        hx_metrics_set(&w->stalls[cause], stalls[cause]);
    atomic_store_explicit(&w->sequence, hx_metrics_get(&w->sequence) + 1, memory_order_release);
}

void hx_metrics_begin_faults(struct hx_metrics_faults *f)
{
    hx_metrics_set(&f->sequence, hx_metrics_get(&f->sequence) | 1);
    atomic_thread_fence(memory_order_release);
    hx_metrics_set(&f->holding, 0);
}

void hx_metrics_add_fault(struct hx_metrics_faults *f, uint64_t since_ns, const char *line)
{
    uint64_t words[HX_METRICS_FAULT_WORDS] = {0};
    uint64_t at = hx_metrics_get(&f->holding);
    hx_metrics_set(&f->holding, at + 1);
    if (at >= HX_METRICS_FAULTS)
        return;
    (void)snprintf((char *)words, sizeof words, "%s", line);
    hx_metrics_set(&f->fault[at].since_ns, since_ns);
    for (unsigned i = 0; i < HX_METRICS_FAULT_WORDS; i++)
        hx_metrics_set(&f->fault[at].line[i], words[i]);
}

void hx_metrics_end_faults(struct hx_metrics_faults *f, uint64_t planned)
{
    hx_metrics_set(&f->planned, planned);
    atomic_store_explicit(&f->sequence, hx_metrics_get(&f->sequence) + 1, memory_order_release);
}

void hx_metrics_set_accelerator(struct hx_metrics_accelerator *to, const struct hx_endpoint_stats *stats)
{
    hx_metrics_set(&to->messages_sent, stats->messages_sent);
    hx_metrics_set(&to->messages_received, stats->messages_received);
    hx_metrics_set(&to->messages_failed, stats->messages_failed);
    hx_metrics_set(&to->packets_sent, stats->packets_sent);
    hx_metrics_set(&to->packets_repeated, stats->packets_repeated);
    hx_metrics_set(&to->packets_delivered, stats->packets_delivered);
    hx_metrics_set(&to->bytes_delivered, stats->bytes_delivered);
    hx_metrics_set(&to->acks_sent, stats->acks_sent);
}
