/* publish.h - a worker's counters for readers outside (topology/metrics.h), periodically and at the end. */
#ifndef VIRTUAL_PUBLISH_H
#define VIRTUAL_PUBLISH_H

#include "state.h"

/* now: ps. Returns the time of the next call, ns of CLOCK_MONOTONIC. */
uint64_t publish(const struct worker *w, uint64_t now);

#endif
