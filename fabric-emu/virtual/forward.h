/* forward.h - fast-forward under the virtual clock: joins a worker to workload/fast_forward.h. */
#ifndef FORWARD_H
#define FORWARD_H

#include "state.h"
#include "workload/fast_forward.h"

/* After the worker's drivers are made; it has all of them. Like all of a worker, it stays until its process ends. */
void forward_open(struct worker *w);
/* Writes what was left out to the worker's area, and when the last of it would have arrived. */
void forward_report(const struct worker *w);

#endif
