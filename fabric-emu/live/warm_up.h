/* warm_up.h - counts at the end of a run's warm-up, which rates, shares and loads leave out. */
#ifndef WARM_UP_H
#define WARM_UP_H

#include "fabric.h"

struct warm_up {
    uint64_t ns;      /* as set, from the start of the run; 0: none */
    uint64_t over_ns; /* its end, from the start of the run; 0: not yet */
    uint64_t bytes, packets, hops;
    uint64_t *link_bytes; /* [ports]; NULL: none */
    uint64_t *job_bytes;  /* [jobs]; NULL: none */
};

/* Ends the warm-up: copies the counts. */
void warm_up_end(struct warm_up *w, const struct fab_fabric *f, uint64_t now_ns);
void warm_up_free(struct warm_up *w);

/* Sums payload and packets received by hosts, and packets moved by switches. */
void warm_up_count(const struct fab_fabric *f, uint64_t *bytes, uint64_t *packets, uint64_t *hops);
/* Returns the payload received by each job's hosts: [jobs], for free(). */
uint64_t *warm_up_count_jobs(const struct fab_fabric *f);

#endif
