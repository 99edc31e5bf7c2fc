/* memory_estimate.h - what a live fabric will take of the machine's memory, and whether that is there: asked before anything is
 * allocated. */
#ifndef MEMORY_ESTIMATE_H
#define MEMORY_ESTIMATE_H

#include "fabric.h"

struct memory_estimate {
    uint64_t shared;  /* reserved at once */
    uint64_t workers; /* all of them together, beside it: switches, endpoints, and peers as the traffic meets them */
    uint64_t space;   /* addresses of one of them, most of which are never touched */
};

/* For that traffic; NULL: few have few peers. `shared`: bytes of the arena. */
struct memory_estimate memory_estimate_of(const struct fab_fabric *f, const struct traffic *traffic, uint64_t shared);

/* Dies with one line that says what is needed, what there is, and what would do with less. */
void memory_estimate_check(const struct fab_fabric *f, const struct memory_estimate *n);

#endif
