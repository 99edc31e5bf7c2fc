/* warm_up.h - what had been counted when the warm-up of a run was over: it does not count in rates, shares and
 * loads. */
#ifndef WARM_UP_H
#define WARM_UP_H

#include "fabric.h"

struct warm_up {
    uint64_t ns;      /* as asked, from the start of the run; 0: none */
    uint64_t over_ns; /* when it was over, from the start of the run; 0: not yet */
    uint64_t bytes, packets, hops;
    uint64_t *link_bytes; /* [ports]; NULL: none */
    uint64_t *job_bytes;  /* [jobs]; NULL: none */
};

/* It is over: notes what has been counted. */
void warm_up_end(struct warm_up *w, const struct fab_fabric *f, uint64_t now_ns);
void warm_up_free(struct warm_up *w);

/* Payload and packets that accelerators received, and packets that switches moved. */
void warm_up_count(const struct fab_fabric *f, uint64_t *bytes, uint64_t *packets, uint64_t *hops);
/* Payload that the accelerators of each job received: [jobs], to be freed. */
uint64_t *warm_up_count_jobs(const struct fab_fabric *f);

#endif
