/* progress.c - reads the workers' reports for the bar (progress.h). */
#include "progress.h"

#include <stdio.h>

void progress_start(struct progress *p, bool quiet, uint64_t messages, uint64_t duration_ns)
{
    *p = (struct progress){.set_up = hx_progress_start("setting up", quiet),
                           .bar = hx_progress_start("run", quiet),
                           .messages = messages,
                           .duration_ns = duration_ns};
}

static double share_done(const struct progress *p, const struct fab_fabric *f, uint64_t now)
{
    if (p->duration_ns) {
        double share = (double)(now - f->control->started_ns) / (double)p->duration_ns;
        return share < 1 ? share : 1;
    }
    uint64_t done = 0;
    for (uint32_t rank = 0; rank < f->g->hosts; rank++)
        done += f->accelerator[rank].stats.messages_sent;
    return p->messages ? (double)done / (double)p->messages : 1;
}

/* Shows how many nodes the workers have built. */
static void show_set_up(struct progress *p, const struct fab_fabric *f)
{
    double built = 0;
    for (unsigned w = 0; w < f->workers; w++)
        built += atomic_load_explicit(&f->area[w].built, memory_order_relaxed);
    if (built < f->g->nodes) /* else external cables are missing */
        hx_progress_show(&p->set_up, built / f->g->nodes, "");
}

void progress_end(struct progress *p)
{
    hx_progress_end(&p->set_up);
    hx_progress_end(&p->bar);
}

void progress_tick(struct progress *p, const struct fab_fabric *f, uint64_t now)
{
    if (watch_is_open(&p->watch))
        return;
    if (!f->control->started_ns) {
        show_set_up(p, f);
        return;
    }
    hx_progress_end(&p->set_up);
    if (!hx_progress_due(&p->bar))
        return;
    uint64_t hops = 0;
    for (unsigned w = 0; w < f->workers; w++)
        hops += atomic_load(&f->area[w].hops);
    uint64_t since = p->last_ns ? p->last_ns : f->control->started_ns;
    char note[64];
    (void)snprintf(note, sizeof note, ", %.1f M packet-hops/s",
                   (double)(hops - p->last_hops) * 1e3 / (double)(now - since));
    hx_progress_show(&p->bar, share_done(p, f, now), note);
    p->last_hops = hops;
    p->last_ns = now;
}
