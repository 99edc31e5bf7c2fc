/* results.c - memory for results (results.h). */
#include "schedule/results.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Operations from .. end - 1 with repeats. entries: a block that repeats counts for each iteration, as each has an
 * entry; else once. */
static double count_executed(const struct schedule *s, uint32_t rank, uint32_t from, uint32_t end, bool entries)
{
    double count = 0;
    for (uint32_t i = from; i < end; i = schedule_next(s, rank, i)) {
        const struct schedule_operation *o = schedule_at(s, rank, i);
        bool repeats = o->kind == SCHEDULE_REPEAT;
        double times = repeats ? (double)o->amount : 0;
        count += repeats && entries ? times : 1;
        count += repeats ? times * count_executed(s, rank, i + 1, schedule_next(s, rank, i), entries) : 0;
    }
    return count;
}

static double executed_by(const struct schedule *s, uint32_t rank, bool entries)
{
    return count_executed(s, rank, 0, schedule_count(s, rank), entries);
}

static double executed_by_all(const struct schedule *s, bool entries)
{
    double all = 0;
    for (uint32_t rank = 0; rank < schedule_ranks(s); rank++)
        all += executed_by(s, rank, entries);
    return all;
}

double schedule_executed(const struct schedule *s)
{
    return executed_by_all(s, false);
}

bool schedule_results_make(struct schedule_results *r, struct executor_plan *plan, uint64_t most, const char *where,
                           struct hx_problem *problem)
{
    const struct schedule *s = plan->schedule;
    uint32_t ranks = schedule_ranks(s);
    double all = executed_by_all(s, true);
    double share = all > (double)most ? (double)most / all : 1;
    r->first_entry = hx_allocate(ranks + (size_t)1, sizeof *r->first_entry);
    for (uint32_t rank = 0; rank < ranks; rank++)
        r->first_entry[rank + 1] = r->first_entry[rank] + (uint64_t)(executed_by(s, rank, true) * share);
    size_t results = (ranks * sizeof *plan->result + 63) & ~(size_t)63;
    r->bytes = results + r->first_entry[ranks] * sizeof *plan->entry;
    r->shared = mmap(NULL, r->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (r->shared == MAP_FAILED) {
        r->shared = NULL;
        return hx_fail(problem, HX_EXIT_ENVIRONMENT, where, "cannot map %zu MiB for what its operations did: %s",
                       r->bytes >> 20, strerror(errno));
    }
    plan->result = r->shared;
    plan->entry = (struct executor_entry *)(void *)((uint8_t *)r->shared + results);
    plan->first_entry = r->first_entry;
    return true;
}

void schedule_results_free(struct schedule_results *r)
{
    if (r->shared)
        (void)munmap(r->shared, r->bytes);
    free(r->first_entry);
    *r = (struct schedule_results){0};
}
