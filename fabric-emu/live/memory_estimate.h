/* memory_estimate.h - estimates a live fabric's memory and compares it with the machine's, before anything is
 * allocated. */
#ifndef MEMORY_ESTIMATE_H
#define MEMORY_ESTIMATE_H

#include "fabric.h"

struct memory_estimate {
    uint64_t shared;  /* bytes reserved at once */
    uint64_t workers; /* bytes of all workers outside it: switches, endpoints, peers of the traffic */
    uint64_t space;   /* bytes of address space of one worker, most of them never touched */
};

/* Returns the estimate for a traffic; NULL: few peers. `shared`: bytes of the arena. */
struct memory_estimate memory_estimate_of(const struct fab_fabric *f, const struct traffic *traffic, uint64_t shared);

/* Ends the program with one line if memory does not suffice: required, available, and how to use less. */
void memory_estimate_check(const struct fab_fabric *f, const struct memory_estimate *n);

#endif
