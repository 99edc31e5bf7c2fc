/* watch.h - `hxmesh run --watch`: hxmesh-top on the run's terminal, in place of the bar.
 *
 * While its screen is there, what this process writes to stderr is kept, and shown when it is gone. The run goes on if
 * the user quits the screen. */
#ifndef WATCH_H
#define WATCH_H

#include <stdbool.h>

struct watch {
    int pid;  /* of hxmesh-top; 0: none, or gone */
    int said; /* keeps stderr meanwhile */
    int stderr_before;
};

/* Shows the fabric of that name. */
void watch_start(struct watch *w, const char *name);
/* Whether the screen is there. */
bool watch_is_open(struct watch *w);
/* A child of this process has ended: whether it was the screen. */
bool watch_ended(struct watch *w, int pid);
/* The fabric has said that it has ended: waits until the screen has seen it. */
void watch_end(struct watch *w);

#endif
