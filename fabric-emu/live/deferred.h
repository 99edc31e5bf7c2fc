/* deferred.h - messages of a host that wait for room towards their destination, while others pass them.
 *
 * An endpoint has a window of messages in flight to a host. Where two senders share an endpoint, one may be refused
 * for what the other has sent. Such a message is deferred and tried before newer ones. Messages to one host stay in
 * order, and messages to other hosts pass.
 *
 * Invariant: each has its record in fab_accelerator.flying, as if the endpoint had it. So a successor begins it again,
 * and there are never more than FAB_SENDS. */
#ifndef DEFERRED_H
#define DEFERRED_H

#include "workload/workload.h"

struct deferred {
    struct workload_message *message; /* [WORKLOAD_SENDS], in order; NULL: never used */
    unsigned count;
};

void deferred_put(struct deferred *s, const struct workload_message *m);

/* Calls `takes` for each in order; removes those that it takes. */
void deferred_each(struct deferred *s, bool (*takes)(void *of, const struct workload_message *m), void *of);

void deferred_free(struct deferred *s);

#endif
