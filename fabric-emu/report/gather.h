/* gather.h - adds up the counters of a run's workers, under either clock. In this order:
 *
 *     result_jobs            the jobs, and the counters of each
 *     gather_worker          each worker
 *     gather_accelerator     each accelerator
 *     gather_collective      if the context has one
 *     gather_links           all links
 *     result_finish          derived figures */
#ifndef GATHER_H
#define GATHER_H

#include "fabric-emu/report/result.h"
#include "topology/metrics.h"
#include "workload/layout.h"

struct gathered_worker {
    const uint64_t *drops;  /* [HX_DROP_COUNT] */
    const uint64_t *stalls; /* [HX_STALL_COUNT] */
    uint64_t bytes_corrupted;
    uint64_t cpu_ns, verify_ns;
    uint64_t private_bytes;
    uint32_t max_vc;
};

void gather_worker(struct result *r, const struct gathered_worker *w);
/* Adds an endpoint's counters to the run and to its job; begun: messages. */
void gather_accelerator(struct result *r, const struct jobs *jobs, uint32_t rank, const struct hx_endpoint_stats *stats,
                        uint64_t begun);
/* Counts those that take part. done: accelerators that finished their part. */
void gather_collective(struct result *r, uint32_t done);
/* busy: share of the time in which the link with this number (topology/metrics.h) sent. */
void gather_links(struct result *r, const struct hx_metrics *metrics, const struct layout *layout,
                  double (*busy)(const void *of, unsigned plane, uint32_t link), const void *of);

#endif
