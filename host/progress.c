/* progress.c - the bar and the lines of long work (host/progress.h). */
#include "host/progress.h"

#include <math.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { BAR = 30 };
static const double first_after = 1, bar_every = 0.2, line_every = 10; /* seconds */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

struct hx_progress hx_progress_start(const char *label, bool quiet)
{
    double start = now();
    return (struct hx_progress){
        .label = label, .start = start, .last = start, .quiet = quiet, .terminal = isatty(STDERR_FILENO)};
}

bool hx_progress_due(const struct hx_progress *p)
{
    double at = now();
    return !p->quiet && at - p->start >= first_after && at - p->last >= (p->terminal ? bar_every : line_every);
}

void hx_progress_show(struct hx_progress *p, double share, const char *note)
{
    if (!hx_progress_due(p))
        return;
    double at = now();
    p->last = at;
    p->shown = true;
    double left = share > 0 ? (at - p->start) * (1 - share) / share : 0;
    if (!p->terminal) {
        fprintf(stderr, "%s: %.0f %%, about %.0f s left%s\n", p->label, 100 * share, left, note);
        return;
    }
    char bar[BAR + 1];
    for (int i = 0; i < BAR; i++)
        bar[i] = i < (int)lround(share * BAR) ? '#' : '.';
    bar[BAR] = '\0';
    fprintf(stderr, "\r%s [%s] %3.0f %%, about %.0f s left%s \033[K", p->label, bar, 100 * share, left, note);
    fflush(stderr);
}

void hx_progress_end(struct hx_progress *p)
{
    if (p->shown && p->terminal)
        fputs("\r\033[K", stderr);
    p->shown = false;
}
