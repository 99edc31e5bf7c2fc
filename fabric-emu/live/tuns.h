/* tuns.h - how a worker waits for what programs on its hosts send (fabric-emu/workload/packets.h), beside what other workers
 * send: in one epoll, where a worker without programs sleeps on a futex. */
#ifndef TUNS_H
#define TUNS_H

#include "node.h"

/* Makes w->tuns; nothing where no programs run. Dies with one line if the machine refuses. */
void tuns_open(struct worker *w);
void tuns_close(struct worker *w);

/* Whether the worker has any. */
static inline bool tuns_are_open(const struct worker *w)
{
    return w->tuns >= 0;
}

/* Takes note of whose packets came; waits at most `ns` for some, or for worker_wake(). */
void tuns_wait(struct worker *w, long ns);

#endif
