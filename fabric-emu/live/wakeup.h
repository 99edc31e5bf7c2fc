/* wakeup.h - sleep of a worker until another worker, a program on a host, or an interface (workload/packets.h) wakes
 * it.
 *
 * With hosts for programs a worker waits for all in one epoll. Workers wake it by an eventfd (fabric.h: `wake`),
 * programs by their host's (hal/program/attachment.h: `asleep`, `wakeup_fd`). Without programs it sleeps on a futex. */
#ifndef WAKEUP_H
#define WAKEUP_H

#include <stdint.h>

struct worker;

/* Makes w->wakeup. Ends the program if the machine refuses. */
void wakeup_open(struct worker *w);
void wakeup_close(struct worker *w);

/* Notes which interfaces have packets. Call it periodically if there are interfaces. */
void wakeup_look(struct worker *w);

/* Asks programs for wakeups. Call it before the last sweep that finds no work. */
void wakeup_begin(struct worker *w);
void wakeup_end(struct worker *w);

/* Sleeps until a wakeup, or for `longest` ns. Returns at once if the worker's word differs from `wake`. */
void wakeup_sleep(struct worker *w, uint32_t wake, long longest);

#endif
