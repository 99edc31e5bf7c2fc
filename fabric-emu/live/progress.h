/* progress.h - progress of a run for the bar of base/progress.h. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include "base/progress.h"
#include "fabric-emu/watch.h"
#include "fabric.h"

struct progress {
    struct hx_progress set_up, bar;
    struct watch watch;   /* replaces the bars if open */
    uint64_t messages;    /* to be acknowledged in all; unused with a duration */
    uint64_t duration_ns; /* 0: none */
    uint64_t last_ns, last_hops;
};

void progress_start(struct progress *p, bool quiet, uint64_t messages, uint64_t duration_ns);
/* Call it often; it draws only when due. */
void progress_tick(struct progress *p, const struct fab_fabric *f, uint64_t now);
/* Removes the bar, before something else is printed. */
void progress_end(struct progress *p);

#endif
