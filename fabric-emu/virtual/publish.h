/* publish.h - a worker's counters for readers outside (topology/metrics.h), periodically and at the end. */
#ifndef VIRTUAL_PUBLISH_H
#define VIRTUAL_PUBLISH_H

#include "state.h"

/* now: ps. Returns the time of the next call, ns of CLOCK_MONOTONIC. */
uint64_t publish(const struct worker *w, uint64_t now);

/* Over ranks, between two windows: all workers publish, and worker 0 copies their counters to its machine. All call it
 * after the same turn. Returns as publish(). */
uint64_t publish_of_ranks(struct worker *w);

#endif
