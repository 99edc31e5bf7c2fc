/* progress.h - how long work shows that it is alive: a bar on a terminal, a line now and then otherwise, on stderr.
 *
 * Nothing is shown within the first second, so that short work stays silent, nor with `quiet`. */
#ifndef HXMESH_HOST_PROGRESS_H
#define HXMESH_HOST_PROGRESS_H

#include <stdbool.h>

struct hx_progress {
    const char *label;
    double start, last; /* seconds */
    bool quiet, terminal, shown;
};

struct hx_progress hx_progress_start(const char *label, bool quiet);
/* share: 0 .. 1 of the work. Cheap to call: looks at the clock and returns. */
void hx_progress_show(struct hx_progress *p, double share);
/* Removes the bar. */
void hx_progress_end(struct hx_progress *p);

#endif
