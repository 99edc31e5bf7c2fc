/* groups.c - groups of each rank (groups.h). */
#include "schedule/groups.h"

#include <stdlib.h>

struct member {
    uint32_t rank, position;
};

static int by_rank(const void *a, const void *b)
{
    const struct member *x = a;
    const struct member *y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static void sort_positions(struct schedule_groups *g, const struct schedule *s, uint32_t group)
{
    uint32_t size = schedule_group_size(s, group);
    struct member *member = hx_allocate(size, sizeof *member);
    for (uint32_t i = 0; i < size; i++)
        member[i] = (struct member){schedule_group(s, group)[i], i};
    qsort(member, size, sizeof *member, by_rank);
    for (uint32_t i = 0; i < size; i++)
        g->position[s->first_member[group] + i] = member[i].position;
    free(member);
}

uint32_t schedule_groups_position(const struct schedule_groups *g, const struct schedule *s, uint32_t group,
                                  uint32_t rank)
{
    const uint32_t *member = schedule_group(s, group);
    const uint32_t *position = g->position + s->first_member[group];
    uint32_t low = 0;
    uint32_t high = schedule_group_size(s, group);
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (member[position[middle]] == rank)
            return position[middle];
        if (member[position[middle]] < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return SCHEDULE_NO_POSITION;
}

uint32_t schedule_groups_number(const struct schedule_groups *g, uint32_t rank, uint32_t group)
{
    for (uint32_t i = g->first[rank]; i < g->first[rank + 1]; i++) {
        if (g->of[i] == group)
            return i - g->first[rank];
    }
    return SCHEDULE_NO_POSITION;
}

uint32_t schedule_groups_at(const struct schedule_groups *g, uint32_t rank, uint32_t number)
{
    uint32_t at = g->first[rank] + number;
    return at < g->first[rank + 1] ? g->of[at] : SCHEDULE_NO_POSITION;
}

void schedule_groups_make(struct schedule_groups *g, const struct schedule *s)
{
    size_t room = 0;
    size_t used = 0;
    *g = (struct schedule_groups){.first = hx_allocate(schedule_ranks(s) + (size_t)1, sizeof *g->first)};
    for (uint32_t rank = 0; rank < schedule_ranks(s); rank++) {
        g->first[rank + 1] = g->first[rank];
        for (uint32_t i = 0; i < schedule_count(s, rank); i++) {
            const struct schedule_operation *o = schedule_at(s, rank, i);
            if (o->kind != SCHEDULE_COLLECTIVE || schedule_groups_number(g, rank, o->peer) != SCHEDULE_NO_POSITION)
                continue;
            g->of = hx_grow(g->of, used, &room, sizeof *g->of);
            g->of[used++] = o->peer;
            g->first[rank + 1]++;
        }
        while (g->first[rank + 1] - g->first[rank] > 1U << g->bits)
            g->bits++;
    }
    g->position = hx_allocate(s->head->members + 1, sizeof *g->position);
    for (uint32_t group = 0; group < s->head->groups; group++)
        sort_positions(g, s, group);
}

void schedule_groups_free(struct schedule_groups *g)
{
    HX_FREE(g->first, g->of, g->position);
    *g = (struct schedule_groups){0};
}
