/* watch.h - `hxmesh run --watch`: hxmesh-top on the run's terminal, instead of the bar.
 *
 * While its screen is open, stderr of this process is kept; it is shown afterwards. The run continues if the user quits
 * the screen. */
#ifndef WATCH_H
#define WATCH_H

#include <stdbool.h>

struct watch {
    int pid;  /* of hxmesh-top; 0: none, or ended */
    int said; /* file that keeps stderr */
    int stderr_before;
};

/* Opens the screen for the fabric of that name. */
void watch_start(struct watch *w, const char *name);
/* Whether the screen is open. */
bool watch_is_open(struct watch *w);
/* Whether the child that ended was the screen. */
bool watch_ended(struct watch *w, int pid);
/* Waits until the screen has shown the end of the fabric. Call after the fabric is marked as ended. */
void watch_end(struct watch *w);

#endif
