/* ordinals.c - numbers of collectives in their groups (ordinals.h). */
#include "schedule/ordinals.h"
#include "schedule/walk.h"

#include <stdlib.h>

static void find_bodies(struct schedule_ordinals *n, const struct schedule *s, uint32_t rank)
{
    n->bodies = 1;
    schedule_find_repeats(s, rank, n->body);
    for (uint32_t i = 0; i < schedule_count(s, rank); i++) {
        n->body[i] = n->body[i] == SCHEDULE_NO_REPEAT ? 0 : n->own[n->body[i]];
        if (schedule_at(s, rank, i)->kind != SCHEDULE_REPEAT)
            continue;
        n->own[i] = n->bodies;
        n->parent[n->bodies] = n->body[i];
        n->repeat[n->bodies++] = i;
    }
}

/* Counts from the innermost bodies outward: a body comes after the one around it. */
static void count_each(struct schedule_ordinals *n, const struct schedule *s, const struct schedule_groups *g,
                       uint32_t rank)
{
    for (uint32_t i = 0; i < schedule_count(s, rank); i++) {
        const struct schedule_operation *o = schedule_at(s, rank, i);
        if (o->kind == SCHEDULE_COLLECTIVE)
            n->each[n->body[i] * n->groups + schedule_groups_number(g, rank, o->peer)]++;
    }
    for (uint32_t body = n->bodies - 1; body; body--) {
        uint64_t times = schedule_at(s, rank, n->repeat[body])->amount;
        for (uint32_t group = 0; group < n->groups; group++)
            n->each[n->parent[body] * n->groups + group] += times * n->each[body * n->groups + group];
    }
}

static void count_before(struct schedule_ordinals *n, const struct schedule *s, const struct schedule_groups *g,
                         uint32_t rank)
{
    uint64_t *running = hx_allocate((size_t)n->bodies * n->groups, sizeof *running);
    for (uint32_t i = 0; i < schedule_count(s, rank); i++) {
        const struct schedule_operation *o = schedule_at(s, rank, i);
        uint64_t *here = running + (size_t)n->body[i] * n->groups;
        if (o->kind == SCHEDULE_COLLECTIVE)
            n->own[i] = (uint32_t)here[schedule_groups_number(g, rank, o->peer)]++;
        for (uint32_t group = 0; o->kind == SCHEDULE_REPEAT && group < n->groups; group++) {
            n->before[n->own[i] * n->groups + group] = here[group];
            here[group] += o->amount * n->each[n->own[i] * n->groups + group];
        }
    }
    free(running);
}

void schedule_ordinals_make(struct schedule_ordinals *n, const struct schedule *s, const struct schedule_groups *g,
                            uint32_t rank)
{
    uint32_t count = schedule_count(s, rank);
    size_t bodies = 1;
    *n = (struct schedule_ordinals){.groups = g->first[rank + 1] - g->first[rank]};
    if (n->groups == 0)
        return;
    for (uint32_t i = 0; i < count; i++)
        bodies += schedule_at(s, rank, i)->kind == SCHEDULE_REPEAT;
    n->body = hx_allocate(count, sizeof *n->body);
    n->own = hx_allocate(count, sizeof *n->own);
    n->parent = hx_allocate(bodies, sizeof *n->parent);
    n->repeat = hx_allocate(bodies, sizeof *n->repeat);
    n->each = hx_allocate(bodies * n->groups, sizeof *n->each);
    n->before = hx_allocate(bodies * n->groups, sizeof *n->before);
    find_bodies(n, s, rank);
    count_each(n, s, g, rank);
    count_before(n, s, g, rank);
}

void schedule_ordinals_free(struct schedule_ordinals *n)
{
    HX_FREE(n->body, n->own, n->parent, n->repeat, n->each, n->before);
    *n = (struct schedule_ordinals){0};
}

uint64_t schedule_ordinal(const struct schedule_ordinals *n, uint32_t operation, uint32_t group,
                          const uint64_t *iteration)
{
    uint64_t ordinal = n->own[operation];
    for (uint32_t body = n->body[operation]; body; body = n->parent[body])
        ordinal += iteration[n->repeat[body]] * n->each[body * n->groups + group] + n->before[body * n->groups + group];
    return ordinal;
}
