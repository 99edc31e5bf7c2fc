/* ideal.c - a schedule on a network of no delay (ideal.h). */
#include "schedule/ideal.h"
#include "schedule/choices.h"
#include "schedule/estimate.h"
#include "schedule/shares.h"

#include <stdlib.h>

/* Whether each member waits for all others: each has a part of the vector. */
static bool is_barrier(const struct schedule *s, const struct schedule_operation *o)
{
    const uint32_t size = schedule_group_size(s, o->peer);
    if (schedule_shares(s, o) && !shares_reach_all(schedule_shares(s, o), size))
        return false;
    switch (o->collective) {
    case HX_ALL_REDUCE:
    case HX_REDUCE_SCATTER:
    case HX_ALL_GATHER:
    case HX_COLLECTIVE_ALL_TO_ALL:
        return o->amount / sizeof(float) >= size;
    default:
        return false;
    }
}

static bool fill(void *of, const struct schedule *s, const struct schedule_operation *o, struct executor_choice *choice,
                 struct hx_problem *problem)
{
    struct schedule_operation instead = *o;
    if (is_barrier(s, o)) {
        instead.collective = HX_BARRIER;
        instead.algorithm = HX_ALGORITHM_BEST;
        instead.amount = instead.tag = 0;
    }
    return schedule_fill_plain(of, s, &instead, choice, problem);
}

struct schedule_ideal schedule_ideal(const struct executor_plan *plan)
{
    static const struct estimate_network network = {.latency_ps = 0, .byte_ps = 0};
    uint32_t ranks = schedule_ranks(plan->schedule);
    struct hx_problem problem;
    struct schedule_choices *choices = schedule_choices_make(plan->schedule, fill, NULL, &problem);
    struct executor_plan own = *plan;
    double end_ps = 0;
    double computing_ps = 0;
    own.choose = schedule_choose;
    own.of = choices;
    own.result = hx_allocate(ranks, sizeof *own.result);
    own.entry = NULL;
    own.stop = NULL;
    bool good = choices && schedule_estimate(&own, &network);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        const struct executor_result *r = &own.result[rank];
        good = good && r->done;
        end_ps = (double)r->end_ps > end_ps ? (double)r->end_ps : end_ps;
        computing_ps += (double)r->computing_ps;
    }
    free(own.result);
    schedule_choices_free(choices);
    return good ? (struct schedule_ideal){end_ps / 1e12, computing_ps / ranks / 1e12} : (struct schedule_ideal){0, 0};
}
