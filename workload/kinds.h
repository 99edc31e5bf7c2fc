/* kinds.h - the kinds of workload, each in a file of its own; workload.c alone chooses among them. */
#ifndef WORKLOAD_KINDS_H
#define WORKLOAD_KINDS_H

#include "workload/workload.h"

/* Each: bytes of memory, which is all zero; then the workload in it. workload.c sets what `struct workload` says of
 * all, shared.c that of the two that it has. */
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
