/* publish.c - copies a worker's counters to the metrics (publish.h). */
#include "publish.h"
#include "base/processor.h"
#include "conditions.h"

static void add(_Atomic uint64_t *counter, uint64_t more)
{
    hx_metrics_set(counter, hx_metrics_get(counter) + more);
}

static uint32_t publish_links(struct worker *w)
{
    uint32_t links = 0;
    for (unsigned i = 0; i < w->nodes; i++) {
        const struct node *n = &w->node[i];
        struct hx_metrics_link *link = &w->f->metrics.link[fab_first_port(w->f, n->plane, n->id)];
        for (unsigned port = 0; port < n->hal.ports; port++, links++) {
            struct shm_counts sent = shm_take_counts(&n->hal.tx[port]);
            add(&link[port].packets, sent.packets);
            add(&link[port].bytes, sent.bytes);
        }
    }
    return links;
}

static void publish_accelerators(struct worker *w)
{
    for (unsigned i = 0; i < w->accelerators; i++) {
        struct accelerator *a = &w->accelerator[i];
        hx_metrics_set_accelerator(&w->f->metrics.accelerator[a->rank], &a->endpoint.stats);
        for (unsigned plane = 0; plane < w->f->g->planes; plane++)
            (void)shm_take_counts(&a->hal.inject[plane]);
    }
}

static void publish_operations(const struct worker *w, struct hx_metrics_worker *to)
{
    struct schedule_progress sum = {0, 0};
    for (unsigned i = 0; i < w->accelerators; i++)
        schedule_plan_add(w->workload->schedule, w->accelerator[i].rank, &sum);
    hx_metrics_set_operations(to, sum.ended, sum.open);
}

/* Rewrites a word of a ring or link that only this worker writes. It repairs a stray store, which would block the ring
 * for good. Call it between steps: the published value is then the private one. */
static void restore(uint64_t *word, uint64_t value)
{
    if (shm_load(word) != value)
        atomic_store_explicit((_Atomic uint64_t *)(void *)word, value, memory_order_release);
}

static void restore_sender(const struct shm_tx *tx)
{
    restore(&tx->link->heads, tx->head);
}

static void restore_receiver(const struct shm_rx *rx)
{
    restore(&rx->link->tails, rx->tail);
    for (unsigned vc = 0; vc < HX_VCS; vc++)
        restore(&rx->link->gone[vc], rx->gone[vc]);
}

static void restore_node(const struct node *n)
{
    for (unsigned port = 0; port < n->hal.ports; port++) {
        restore_sender(&n->hal.tx[port]);
        if (n->hal.brings >> port & 1)
            restore_receiver(&n->hal.rx[port]);
    }
}

static void restore_faulty(const struct shm_faulty *f)
{
    restore(&f->to->heads, f->head);
    restore(&f->from->tails, f->tail);
    for (unsigned vc = 0; vc < f->vcs; vc++)
        restore(&f->from->gone[vc], shm_gone(f->tail, f->taken, vc, 0));
}

static void restore_all(struct worker *w)
{
    for (unsigned i = 0; i < w->faulties; i++)
        restore_faulty(&w->faulty[i]->f);
    for (unsigned i = 0; i < w->switch_nodes; i++)
        restore_node(&w->node[i]);
    for (unsigned i = 0; i < w->accelerators; i++) {
        struct accelerator *a = &w->accelerator[i];
        a->report->stats = a->endpoint.stats;
        for (unsigned plane = 0; plane < w->f->g->planes; plane++) {
            restore_sender(&a->hal.inject[plane]);
            restore_receiver(&a->hal.eject[plane]);
        }
    }
    for (unsigned other = 0; other < w->f->workers && !(w->shm.gave | w->shm.took); other++) {
        restore(&w->shm.give[other].ring->head, w->shm.give[other].head);
        restore(&w->shm.take[other].ring->tail, w->shm.take[other].tail);
    }
}

void publish(struct worker *w)
{
    restore_all(w);
    const struct fab_area *area = &w->f->area[w->self];
    struct hx_metrics_worker *to = &w->f->metrics.worker[w->self];
    hx_metrics_begin(to);
    uint32_t links = publish_links(w);
    publish_accelerators(w);
    if (w->workload->schedule)
        publish_operations(w, to);
    hx_metrics_end(to, hx_metrics_now(), w->cpu_before + hx_processor_ns(), area->hops, area->bytes_corrupted,
                   area->drops, area->stalls);
    w->publish_at = shm_clock_ns(w->clock) + hx_metrics_period(links);
}

void publish_if_due(struct worker *w)
{
    /* A host's step has just read the clock. */
    uint64_t now = w->accelerators ? w->shm.now : shm_clock_ns(w->clock);
    if (now >= w->publish_at)
        publish(w);
}
