/* timeline_arrows.c - finds the sends that receives waited for (timeline_arrows.h). */
#include "fabric-emu/report/timeline_arrows.h"

#include <stdlib.h>

enum { NOWHERE = UINT32_MAX };

/* Places of sends by operation, then in the order of time. An operation is counted among those of all ranks. */
struct sends {
    const struct schedule_job *job;
    uint32_t *first; /* [operations + 1]: index in `place` */
    uint32_t *end;   /* [operations]: those before may still be taken */
    uint32_t *place;
};

static uint64_t operation_of(const struct schedule_job *job, uint32_t rank, uint32_t number)
{
    return job->schedule->first[rank] + number;
}

static bool is_kind(const struct schedule_job *job, uint32_t rank, const struct executor_entry *e,
                    enum schedule_kind kind)
{
    return schedule_at(job->schedule, rank, e->operation)->kind == kind;
}

static void count_sends(struct sends *s)
{
    for (uint32_t rank = 0; rank < schedule_ranks(s->job->schedule); rank++) {
        const struct entries k = entries_of(s->job, rank);
        for (uint64_t i = k.first; i < k.end; i++) {
            const struct executor_entry *e = entries_at(&k, i);
            s->first[operation_of(s->job, rank, e->operation) + 1] += is_kind(s->job, rank, e, SCHEDULE_SEND);
        }
    }
}

static void place_sends(struct sends *s)
{
    for (uint32_t rank = 0; rank < schedule_ranks(s->job->schedule); rank++) {
        const struct entries k = entries_of(s->job, rank);
        for (uint64_t i = k.first; i < k.end; i++) {
            const struct executor_entry *e = entries_at(&k, i);
            if (is_kind(s->job, rank, e, SCHEDULE_SEND))
                s->place[s->end[operation_of(s->job, rank, e->operation)]++] = timeline_place(s->job, e);
        }
    }
}

static void sends_make(struct sends *s, const struct schedule_job *job)
{
    uint64_t operations = job->schedule->head->operations;
    *s = (struct sends){.job = job};
    s->first = hx_allocate(operations + 1, sizeof *s->first);
    s->end = hx_allocate(operations + 1, sizeof *s->end);
    count_sends(s);
    for (uint64_t i = 0; i < operations; i++) {
        s->first[i + 1] += s->first[i];
        s->end[i] = s->first[i];
    }
    s->place = hx_allocate(s->first[operations] + (size_t)1, sizeof *s->place);
    place_sends(s);
}

/* Takes the last send of an operation that began at `until` or before. */
static uint32_t take_send(const struct sends *s, uint64_t operation, uint64_t until)
{
    uint32_t low = s->first[operation];
    uint32_t high = s->end[operation];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (s->job->executor.entry[s->place[middle]].begin <= until)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == s->first[operation])
        return NOWHERE;
    s->end[operation] = low - 1;
    return s->place[low - 1];
}

uint32_t *timeline_arrows(const struct schedule_job *job)
{
    uint32_t ranks = schedule_ranks(job->schedule);
    uint32_t *arrow = hx_allocate(job->executor.first_entry[ranks] + 1, sizeof *arrow);
    struct sends s;
    sends_make(&s, job);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        const struct entries k = entries_of(job, rank);
        for (uint64_t i = k.end; i > k.first; i--) {
            const struct executor_entry *e = entries_at(&k, i - 1);
            if (!is_kind(job, rank, e, SCHEDULE_RECEIVE) || e->source == EXECUTOR_NO_CAUSE || e->source == rank)
                continue;
            uint32_t send = take_send(&s, operation_of(job, e->source, e->cause), e->end);
            if (send == NOWHERE)
                continue;
            arrow[send] = 1;
            arrow[timeline_place(job, e)] = 1 + send;
        }
    }
    HX_FREE(s.first, s.end, s.place);
    return arrow;
}
