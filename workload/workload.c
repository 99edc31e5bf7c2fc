/* workload.c - chooses the kind of an accelerator's workload (workload.h). */
#include "workload/workload.h"
#include "workload/kinds.h" /* circle: the list of all kinds of workload */

uint64_t workload_messages(const struct workload_plan *plan)
{
    uint64_t messages = plan->collective ? collective_messages(plan->collective) : 0;
    for (uint32_t rank = 0; rank < plan->traffic->g->hosts; rank++)
        messages += traffic_messages(plan->traffic, rank);
    return messages;
}

size_t workload_bytes(const struct workload_plan *plan, uint32_t rank)
{
    if (plan->packets)
        return shared_bytes();
    if (plan->transfer)
        return file_transfer_bytes();
    if (plan->programs)
        return program_bytes();
    return workload_is_collective(plan, rank) ? collective_bytes(plan, rank) : pattern_bytes();
}

struct workload *workload_make(const struct workload_plan *plan, uint32_t rank, uint64_t *begun, uint64_t *asked,
                               struct transfer_received *received, void *memory)
{
    struct workload *w = plan->packets                        ? shared_make(plan, rank, asked, memory)
                         : plan->transfer                     ? file_transfer_make(plan, rank, received, memory)
                         : plan->programs                     ? program_make(plan, rank, memory)
                         : workload_is_collective(plan, rank) ? collective_make(plan, rank, memory)
                                                              : pattern_make(plan, rank, memory);
    w->rank = rank;
    w->start = plan->traffic ? traffic_job_start_ns(plan->traffic, rank) * WORKLOAD_PS : 0;
    w->begun = begun;
    return w;
}

void workload_close(struct workload *w)
{
    if (w->ops->close)
        w->ops->close(w);
}
