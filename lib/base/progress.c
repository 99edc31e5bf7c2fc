/* progress.c - the progress of long work, as a bar or lines (base/progress.h). */
#include "base/progress.h"
#include "base/clock.h"
#include "base/color.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { BAR = 30, WIDTH = 80, NARROWEST = 20, LONGEST_LINE = 512 };
static const double first_after = 1, bar_every = 0.2, line_every = 10; /* seconds */

struct hx_progress hx_progress_start(const char *label, bool quiet)
{
    double start = hx_monotonic_seconds();
    return (struct hx_progress){.label = label,
                                .start = start,
                                .last = start,
                                .quiet = quiet,
                                .terminal = isatty(STDERR_FILENO) && !hx_terminal_is_dumb()};
}

bool hx_progress_due(const struct hx_progress *p)
{
    double at = hx_monotonic_seconds();
    return !p->quiet && at - p->start >= first_after && at - p->last >= (p->terminal ? bar_every : line_every);
}

/* Returns the columns of the terminal: its own figure, COLUMNS, or 80. */
static unsigned width(void)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col)
        return size.ws_col;
    const char *columns = getenv("COLUMNS");
    unsigned long said = columns ? strtoul(columns, NULL, 10) : 0;
    return said && said < LONGEST_LINE ? (unsigned)said : WIDTH;
}

/* Prints the bar on one line: a line that wraps cannot be overwritten. The last column stays free. */
static void show_bar(const char *label, double share, const char *left, const char *note)
{
    char bar[BAR + 1];
    char line[LONGEST_LINE];
    for (int i = 0; i < BAR; i++)
        bar[i] = i < (int)lround(share * BAR) ? '#' : '.';
    bar[BAR] = '\0';
    unsigned most = width();
    most = most < NARROWEST ? NARROWEST : most;
    most = most < sizeof line ? most : sizeof line;
    (void)snprintf(line, most, "%s [%s] %3.0f %%%s%s", label, bar, 100 * share, left, note);
    fprintf(stderr, "\r%s\033[K", line);
    (void)fflush(stderr);
}

void hx_progress_show(struct hx_progress *p, double share, const char *note)
{
    if (!hx_progress_due(p))
        return;
    double at = hx_monotonic_seconds();
    p->last = at;
    p->shown = true;
    char left[48] = ""; /* unknown until some work is done */
    if (share > 0)
        (void)snprintf(left, sizeof left, ", about %.0f s left", (at - p->start) * (1 - share) / share);
    if (p->terminal)
        show_bar(p->label, share, left, note);
    else
        fprintf(stderr, "%s: %.0f %%%s%s\n", p->label, 100 * share, left, note);
}

void hx_progress_end(struct hx_progress *p)
{
    if (p->shown && p->terminal)
        fputs("\r\033[K", stderr);
    p->shown = false;
}
