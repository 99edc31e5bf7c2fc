/* deferred.h - messages of an accelerator that wait for a place at their hosts, so that others pass them.
 *
 * An endpoint has HX_PEER_WINDOW messages to a host under way. One who sends them all can look after that himself;
 * where two share an endpoint, a message may be refused for what the other one has sent. It is put aside, and tried
 * before anything newer: messages to one host go in the order in which they were taken, and who waits for one host
 * keeps nobody from another.
 *
 * Invariant: each has its record in fab_accelerator.flying, as if the endpoint had it: so a successor begins it again,
 * and there are never more than FAB_SENDS. */
#ifndef DEFERRED_H
#define DEFERRED_H

#include "workload/workload.h"

struct deferred {
    struct workload_message *message; /* [WORKLOAD_SENDS], in their order; NULL: never was one */
    unsigned count;
};

void deferred_put(struct deferred *s, const struct workload_message *m);

/* Calls `takes` with each one in turn; those that it takes are gone. */
void deferred_each(struct deferred *s, bool (*takes)(void *of, const struct workload_message *m), void *of);

void deferred_free(struct deferred *s);

#endif
