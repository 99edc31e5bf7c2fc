/* wakeup.h - a worker sleeps until somebody has something for it: another worker, a program that holds one of its hosts,
 * or a program that sends packets by an interface (workload/packets.h).
 *
 * Where hosts are for programs it waits for all of them in one epoll: other workers wake it by an eventfd (fabric.h:
 * `wake`), a program calls by one of its host's (hal/program/attachment.h: `asleep`, `call`). Elsewhere there are only
 * other workers, and it sleeps on a futex. */
#ifndef WAKEUP_H
#define WAKEUP_H

#include <stdint.h>

struct worker;

/* Makes w->wakeup. Dies with one line if the machine refuses. */
void wakeup_open(struct worker *w);
void wakeup_close(struct worker *w);

/* Takes note of whose packets came. For who has interfaces, now and then. */
void wakeup_look(struct worker *w);

/* From now on programs call. To be called before the sweep that finds nothing. */
void wakeup_begin(struct worker *w);
void wakeup_end(struct worker *w);

/* Sleeps until somebody calls, or for `longest` ns; not at all if the worker's own word is no more as it was,
 * `wake`. */
void wakeup_sleep(struct worker *w, uint32_t wake, long longest);

#endif
