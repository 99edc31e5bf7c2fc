/* workload.c - which kind of workload a run's accelerators have (workload.h). */
#include "fabric-emu/workload/workload.h"
#include "fabric-emu/workload/kinds.h"

size_t workload_bytes(const struct workload_plan *plan, uint32_t rank)
{
    if (plan->transfer)
        return carried_bytes();
    return plan->collective ? collective_bytes(plan, rank) : pattern_bytes();
}

struct workload *workload_make(const struct workload_plan *plan, uint32_t rank, uint64_t *begun,
                               struct transfer_received *received, void *memory)
{
    struct workload *w = plan->transfer     ? carried_make(plan, rank, received, memory)
                         : plan->collective ? collective_make(plan, rank, memory)
                                            : pattern_make(plan, rank, memory);
    w->rank = rank;
    w->begun = begun;
    return w;
}

void workload_close(struct workload *w)
{
    if (w->ops->close)
        w->ops->close(w);
}
