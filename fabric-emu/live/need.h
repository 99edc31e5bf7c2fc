/* need.h - what a live fabric will take of the machine's memory, and whether that is there: asked before anything is
 * allocated. */
#ifndef NEED_H
#define NEED_H

#include "fabric.h"

struct need {
    uint64_t shared;  /* reserved at once */
    uint64_t workers; /* all of them together, beside it: switches, endpoints, and peers as the traffic meets them */
    uint64_t space;   /* addresses of one of them, most of which are never touched */
};

/* For that traffic; NULL: few have few peers. `shared`: bytes of the arena. */
struct need need_of(const struct fab_fabric *f, const struct traffic *traffic, uint64_t shared);

/* Dies with one line that says what is needed, what there is, and what would do with less. */
void need_check(const struct fab_fabric *f, const struct need *n);

#endif
