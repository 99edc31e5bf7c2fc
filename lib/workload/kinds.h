/* kinds.h - the kinds of workload, each in its own file; only workload.c chooses among them. */
#ifndef WORKLOAD_KINDS_H
#define WORKLOAD_KINDS_H

#include "workload/workload.h"

/* Memory of a workload, zeroed by the caller, and counts of a predecessor (workload_make). */
struct workload_memory {
    uint64_t *asked;
    struct transfer_received *received;
    void *memory;
};

struct workload_kind {
    size_t (*bytes)(const struct workload_plan *plan, uint32_t rank);
    /* workload.c sets the common fields of `struct workload`, shared.c those of its two users. */
    struct workload *(*make)(const struct workload_plan *plan, uint32_t rank, const struct workload_memory *m);
    struct workload_load (*load)(const struct workload_plan *plan, uint32_t rank); /* NULL: unknown */
};

extern const struct workload_kind pattern_kind, file_transfer_kind, collective_kind, schedule_kind, packets_kind,
    posted_kind, program_kind, shared_kind;

#endif
