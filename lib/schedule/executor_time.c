/* executor_time.c - time that a rank computes or only communicates, and its communication by purpose (executor.h). */
#include "schedule/executor_parts.h"

/* Adds time to each purpose in progress. */
static void count_purposes(struct executor *e, uint64_t passed)
{
    unsigned active = (unsigned)__builtin_popcount(e->purposes);
    uint64_t remainder = passed % active;
    for (uint32_t left = e->purposes; left; left &= left - 1) {
        struct executor_purpose *p = &e->result->purpose[__builtin_ctz(left)];
        p->busy_ps += passed;
        p->hidden_ps += e->computing ? passed : 0;
        p->exposed_ps += e->computing ? 0 : passed / active + remainder;
        remainder = 0;
    }
}

static void count_time(struct executor *e)
{
    uint64_t passed = e->now - e->counted_until;
    e->result->computing_ps += e->computing ? passed : 0;
    e->result->exposed_ps += !e->computing && e->communicating ? passed : 0;
    if (passed && e->communicating)
        count_purposes(e, passed);
    e->counted_until = e->now;
}

void time_count(struct executor *e, uint32_t number, int change)
{
    const struct schedule_operation *o = operation_at(e, number);
    const bool computes = o->kind == SCHEDULE_COMPUTE && o->tag != SCHEDULE_COMMUNICATES;
    unsigned *count = computes ? &e->computing : &e->communicating;
    if (o->kind == SCHEDULE_REPEAT)
        return;
    count_time(e);
    *count += (unsigned)change;
    if (!computes) {
        uint32_t bit = UINT32_C(1) << o->purpose;
        e->purpose_open[o->purpose] += (unsigned)change;
        e->purposes = e->purpose_open[o->purpose] ? e->purposes | bit : e->purposes & ~bit;
    }
    atomic_store_explicit(&e->result->open, (uint64_t)e->computing + e->communicating, memory_order_relaxed);
}

void time_count_messages(struct executor *e, uint32_t number, uint64_t messages, uint64_t bytes)
{
    struct executor_purpose *p = &e->result->purpose[operation_at(e, number)->purpose];
    e->result->messages += messages;
    e->result->bytes += bytes;
    p->messages += messages;
    p->bytes += bytes;
}
