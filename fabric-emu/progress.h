/* progress.h - what a person sees while a run lasts: a bar on a terminal, a line now and then otherwise. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include "fabric.h"

struct progress {
    bool quiet;
    bool terminal;
    bool shown;           /* a bar stands on the line */
    uint64_t messages;    /* to be acknowledged in all; 0: not known, the time counts */
    uint64_t duration_ns; /* 0: none */
    uint64_t next_ns, last_ns, last_hops;
    uint64_t every_ns;
};

/* messages: in all, 0 if the duration ends the run. */
void progress_start(struct progress *p, bool quiet, uint64_t messages, uint64_t duration_ns);
void progress_tick(struct progress *p, const struct fab_fabric *f, enum fab_phase phase, uint64_t now);
/* Takes the bar away, before something else is printed. */
void progress_clear(struct progress *p);

#endif
