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

static const struct workload_kind *kind_of(const struct workload_plan *plan, uint32_t rank)
{
    if (plan->packets)
        return &shared_kind;
    if (plan->transfer)
        return &file_transfer_kind;
    if (plan->programs)
        return &program_kind;
    if (plan->posted)
        return &posted_kind;
    if (workload_is_schedule(plan, rank))
        return &schedule_kind;
    return workload_is_collective(plan, rank) ? &collective_kind : &pattern_kind;
}

size_t workload_bytes(const struct workload_plan *plan, uint32_t rank)
{
    return kind_of(plan, rank)->bytes(plan, rank);
}

struct workload_load workload_load_of(const struct workload_plan *plan, uint32_t rank)
{
    const struct workload_kind *kind = kind_of(plan, rank);
    return kind->load ? kind->load(plan, rank) : (struct workload_load){.again = true, .longer = true};
}

struct workload *workload_make(const struct workload_plan *plan, uint32_t rank, uint64_t *begun, uint64_t *asked,
                               struct transfer_received *received, void *memory)
{
    const struct workload_memory m = {asked, received, memory};
    struct workload *w = kind_of(plan, rank)->make(plan, rank, &m);
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
