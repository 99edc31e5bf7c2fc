/* support_executed.c - schedules of tests, executed (support_executed.h). */
#include "tests/support/support_executed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { MOST_ENTRIES = 4096 };

struct executed_settings executed_plain(void)
{
    return (struct executed_settings){.costs = executor_costs_default,
                                      .network = {.latency_ps = 1000000},
                                      .window = UINT32_MAX,
                                      .fill = schedule_fill_plain};
}

void executed_prepare(struct executed *r, struct schedule_builder *b, const struct executed_settings *settings)
{
    struct hx_problem problem;
    *r = (struct executed){.s = schedule_build(b, "test", &problem)};
    assert_non_null(r->s);
    uint32_t ranks = schedule_ranks(r->s);
    schedule_groups_make(&r->groups, r->s);
    r->choices = schedule_choices_make(r->s, settings->fill, settings->of, &problem);
    if (!r->choices)
        fail_msg("%s", problem.what);
    r->first_entry = hx_allocate(ranks + 1U, sizeof *r->first_entry);
    for (uint32_t i = 0; i < ranks; i++)
        r->first_entry[i + 1] = r->first_entry[i] + MOST_ENTRIES;
    r->plan = (struct executor_plan){.schedule = r->s,
                                     .costs = settings->costs,
                                     .window = settings->window,
                                     .latest_ps = settings->latest_ps,
                                     .stop = settings->stop,
                                     .choose = schedule_choose,
                                     .of = r->choices,
                                     .result = hx_allocate(ranks, sizeof(struct executor_result)),
                                     .entry = hx_allocate(r->first_entry[ranks], sizeof(struct executor_entry)),
                                     .first_entry = r->first_entry,
                                     .groups = &r->groups};
}

struct executed executed_of(struct schedule_builder *b, const struct executed_settings *settings)
{
    struct executed r;
    executed_prepare(&r, b, settings);
    assert_true(schedule_estimate(&r.plan, &settings->network));
    r.plan.groups = NULL;
    return r;
}

void executed_free(struct executed *r)
{
    schedule_choices_free(r->choices);
    schedule_groups_free(&r->groups);
    schedule_close(r->s);
    HX_FREE(r->plan.result, r->plan.entry, r->first_entry);
}

uint64_t executed_end(const struct executed *r)
{
    uint64_t end = 0;
    for (uint32_t i = 0; i < schedule_ranks(r->s); i++) {
        assert_true(r->plan.result[i].done);
        end = r->plan.result[i].end_ps > end ? r->plan.result[i].end_ps : end;
    }
    return end;
}

struct executor_entry executed_entry(const struct executed *r, uint32_t rank, uint32_t operation, unsigned n)
{
    const struct executor_entry *entry = r->plan.entry + r->first_entry[rank];
    for (uint64_t i = 0; i < r->plan.result[rank].entries; i++) {
        if (entry[i].operation == operation && n-- == 0)
            return entry[i];
    }
    fail_msg("operation %u of rank %u has no such entry", operation, rank);
    return entry[0];
}
