/* progress.h - how long work shows that it is alive: a bar on a terminal, a line now and then otherwise, on stderr.
 *
 * The bar is one line, cut to the terminal's width. How long it will take is said once some of it is done.
 * Nothing is shown within the first second, so that short work stays silent, nor with `quiet`. */
#ifndef HXMESH_BASE_PROGRESS_H
#define HXMESH_BASE_PROGRESS_H

#include <stdbool.h>

struct hx_progress {
    const char *label;
    double start, last; /* seconds */
    bool quiet, terminal, shown;
};

struct hx_progress hx_progress_start(const char *label, bool quiet);
/* Whether it is time to show something; for work whose share is dear to compute. */
bool hx_progress_due(const struct hx_progress *p);
/* share: 0 .. 1 of the work; note: more words, or "". Cheap to call: looks at the clock and returns. */
void hx_progress_show(struct hx_progress *p, double share, const char *note);
/* Removes the bar, before something else is printed. */
void hx_progress_end(struct hx_progress *p);

#endif
