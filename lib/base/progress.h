/* progress.h - the progress of long work on stderr: a bar on a terminal, else a line from time to time.
 *
 * The bar is one line, cut to the terminal's width. The remaining time appears once some work is done. Nothing appears
 * in the first second, so that short work stays silent, nor with `quiet`. */
#ifndef HXMESH_BASE_PROGRESS_H
#define HXMESH_BASE_PROGRESS_H

#include <stdbool.h>

struct hx_progress {
    const char *label;
    double start, last; /* seconds */
    bool quiet, terminal, shown;
};

struct hx_progress hx_progress_start(const char *label, bool quiet);
/* Whether the next output is due; for work with a share that is expensive to compute. */
bool hx_progress_due(const struct hx_progress *p);
/* Shows the share of work done, 0 .. 1, and a note, "" for none. Cheap: usually reads only the clock. */
void hx_progress_show(struct hx_progress *p, double share, const char *note);
/* Removes the bar before other output. */
void hx_progress_end(struct hx_progress *p);

#endif
