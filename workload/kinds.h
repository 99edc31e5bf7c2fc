/* kinds.h - the kinds of workload, each in its own file; only workload.c chooses among them. */
#ifndef WORKLOAD_KINDS_H
#define WORKLOAD_KINDS_H

#include "workload/workload.h"

/* For each kind: bytes of memory, zeroed by the caller; and its construction there. workload.c sets the common fields
 * of `struct workload`, shared.c those of its two users. */
size_t pattern_bytes(void);
struct workload *pattern_make(const struct workload_plan *plan, uint32_t rank, void *memory);

size_t file_transfer_bytes(void);
struct workload *file_transfer_make(const struct workload_plan *plan, uint32_t rank, struct transfer_received *received,
                                    void *memory);

size_t collective_bytes(const struct workload_plan *plan, uint32_t rank);
struct workload *collective_make(const struct workload_plan *plan, uint32_t rank, void *memory);

size_t packets_bytes(void);
struct workload *packets_make(const struct workload_plan *plan, uint32_t rank, void *memory);

size_t program_bytes(void);
struct workload *program_make(const struct workload_plan *plan, uint32_t rank, void *memory);

size_t shared_bytes(void);
struct workload *shared_make(const struct workload_plan *plan, uint32_t rank, uint64_t *asked, void *memory);

#endif
