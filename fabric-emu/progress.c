/* progress.c - the bar and the lines, on stderr (progress.h). */
#include "progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BAR = 30 };
#define BAR_EVERY_NS  UINT64_C(100000000)
#define LINE_EVERY_NS UINT64_C(5000000000)

void progress_start(struct progress *p, bool quiet, uint64_t messages, uint64_t duration_ns)
{
    *p = (struct progress){
        .quiet = quiet, .terminal = isatty(STDERR_FILENO) == 1, .messages = messages, .duration_ns = duration_ns};
    p->every_ns = p->terminal ? BAR_EVERY_NS : LINE_EVERY_NS;
}

void progress_clear(struct progress *p)
{
    if (p->shown)
        (void)fprintf(stderr, "\r\033[K");
    p->shown = false;
}

static double share_done(const struct progress *p, const struct fab_fabric *f, uint64_t now)
{
    if (p->duration_ns) {
        double share = (double)(now - f->control->started_ns) / (double)p->duration_ns;
        return share < 1 ? share : 1;
    }
    uint64_t done = 0;
    for (uint32_t rank = 0; rank < f->g.accelerators; rank++)
        done += f->accelerator[rank].stats.messages_sent;
    return p->messages ? (double)done / (double)p->messages : 1;
}

static void show(struct progress *p, double share, double rate, const char *what)
{
    unsigned full = (unsigned)(share * BAR);
    char bar[BAR + 1];
    memset(bar, ' ', BAR);
    memset(bar, '#', full);
    bar[BAR] = 0;
    if (p->terminal)
        (void)fprintf(stderr, "\r\033[K%s [%s] %3.0f %%  %.1f M packet-hops/s", what, bar, share * 100, rate / 1e6);
    else
        (void)fprintf(stderr, "hxmesh: %s: %.0f %%, %.1f M packet-hops/s\n", what, share * 100, rate / 1e6);
    p->shown = p->terminal;
}

void progress_tick(struct progress *p, const struct fab_fabric *f, enum fab_phase phase, uint64_t now)
{
    if (p->quiet || phase == FAB_STARTING)
        return;
    if (p->next_ns == 0) {
        p->next_ns = now + p->every_ns;
        p->last_ns = now;
    }
    if (now < p->next_ns)
        return;
    uint64_t hops = 0;
    for (unsigned w = 0; w < f->workers; w++)
        hops += atomic_load(&f->area[w].hops);
    double rate = (double)(hops - p->last_hops) * 1e9 / (double)(now - p->last_ns);
    show(p, share_done(p, f, now), rate, phase == FAB_RUNNING ? "running" : "draining");
    p->last_hops = hops;
    p->last_ns = now;
    p->next_ns = now + p->every_ns;
}
