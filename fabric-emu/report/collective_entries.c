/* collective_entries.c - finds the entries of one collective at its members (collective_entries.h). */
#include "fabric-emu/report/collective_entries.h"

#include <stdlib.h>

/* Group of an entry, by its number at the rank; SCHEDULE_NO_POSITION: no collective. */
static uint32_t group_of(const struct collective_entries *c, const struct executor_entry *e)
{
    const struct schedule_operation *o = schedule_at(c->job->schedule, c->rank, e->operation);
    return o->kind == SCHEDULE_COLLECTIVE ? schedule_groups_number(&c->job->groups, c->rank, o->peer)
                                          : SCHEDULE_NO_POSITION;
}

void collective_entries_open(struct collective_entries *c, const struct schedule_job *job, uint32_t rank)
{
    const struct entries k = entries_of(job, rank);
    uint32_t groups = job->groups.first[rank + 1] - job->groups.first[rank];
    *c = (struct collective_entries){job, rank, hx_allocate(groups + (size_t)2, sizeof *c->from), NULL};
    for (uint64_t i = k.first; i < k.end; i++) {
        uint32_t group = group_of(c, entries_at(&k, i));
        if (group != SCHEDULE_NO_POSITION)
            c->from[group + 2]++;
    }
    for (uint32_t group = 0; group < groups; group++)
        c->from[group + 2] += c->from[group + 1];
    c->number = hx_allocate(c->from[groups + 1] + 1, sizeof *c->number);
    for (uint64_t i = k.first; i < k.end; i++) { /* moves from[group + 1] from the begin of a group to its end */
        uint32_t group = group_of(c, entries_at(&k, i));
        if (group != SCHEDULE_NO_POSITION)
            c->number[c->from[group + 1]++] = i;
    }
}

void collective_entries_close(struct collective_entries *c)
{
    HX_FREE(c->from, c->number);
}

/* Index of a number in number[from .. end - 1], which has it. */
static uint64_t find(const struct collective_entries *c, uint64_t from, uint64_t end, uint64_t number)
{
    while (end - from > 1) {
        uint64_t middle = from + (end - from) / 2;
        if (c->number[middle] <= number)
            from = middle;
        else
            end = middle;
    }
    return from;
}

uint64_t collective_entries_same(const struct collective_entries *c, const struct collective_entries *of,
                                 uint32_t group, uint64_t number)
{
    uint32_t own = schedule_groups_number(&of->job->groups, of->rank, group);
    uint32_t other = schedule_groups_number(&c->job->groups, c->rank, group);
    if (other == SCHEDULE_NO_POSITION)
        return COLLECTIVE_ENTRIES_NONE;
    uint64_t left = of->from[own + 1] - find(of, of->from[own], of->from[own + 1], number);
    if (left > c->from[other + 1] - c->from[other])
        return COLLECTIVE_ENTRIES_NONE;
    return c->number[c->from[other + 1] - left];
}
