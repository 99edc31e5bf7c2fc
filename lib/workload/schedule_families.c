/* schedule_families.c - groups that do the same collective (schedule_families.h). */
#include "workload/schedule_families.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

struct key {
    uint64_t bytes;
    uint32_t group, shares;
    uint8_t kind, algorithm, fill[6];
};

static struct key key_of(const struct schedule_operation *o, uint32_t group)
{
    return (struct key){.bytes = o->amount,
                        .group = group,
                        .shares = o->tag - schedule_root(o),
                        .kind = o->collective,
                        .algorithm = o->algorithm};
}

static uint32_t number_of(const struct schedule_families *f, const struct schedule_operation *o, uint32_t group)
{
    const struct key key = key_of(o, group);
    return hx_blobs_find(&f->keys, &key, sizeof key);
}

void schedule_families_open(struct schedule_families *f, const struct schedule *s)
{
    *f = (struct schedule_families){.schedule = s};
    for (uint64_t i = 0; i < s->head->operations; i++) {
        const struct key key = key_of(&s->operation[i], s->operation[i].peer);
        if (s->operation[i].kind == SCHEDULE_COLLECTIVE)
            (void)hx_blobs_add(&f->keys, &key, sizeof key);
    }
    f->algorithm = hx_allocate(f->keys.count + 1, sizeof *f->algorithm);
    f->taken = hx_allocate(schedule_ranks(s), sizeof *f->taken);
}

void schedule_families_close(struct schedule_families *f)
{
    hx_blobs_free(&f->keys);
    HX_FREE(f->algorithm, f->taken);
}

/* Takes the ranks of a group, unless one is taken. */
static bool take_ranks(struct schedule_families *f, uint32_t group)
{
    const uint32_t *rank = schedule_group(f->schedule, group);
    const uint32_t size = schedule_group_size(f->schedule, group);
    for (uint32_t i = 0; i < size; i++) {
        if (f->taken[rank[i]])
            return false;
    }
    for (uint32_t i = 0; i < size; i++)
        f->taken[rank[i]] = true;
    return true;
}

uint32_t schedule_families_find(struct schedule_families *f, const struct schedule_operation *o, uint32_t *groups)
{
    const struct schedule *s = f->schedule;
    const uint32_t size = schedule_group_size(s, o->peer);
    uint32_t count = 0;
    memset(f->taken, 0, schedule_ranks(s) * sizeof *f->taken);
    groups[count++] = o->peer;
    (void)take_ranks(f, o->peer);
    for (uint32_t group = 0; group < s->head->groups; group++) {
        if (schedule_group_size(s, group) == size && number_of(f, o, group) != HX_NO_BLOB && take_ranks(f, group))
            groups[count++] = group;
    }
    return count;
}

unsigned schedule_families_algorithm(const struct schedule_families *f, const struct schedule_operation *o)
{
    return f->algorithm[number_of(f, o, o->peer)];
}

void schedule_families_set(struct schedule_families *f, const struct schedule_operation *o, const uint32_t *groups,
                           uint32_t count, unsigned algorithm)
{
    for (uint32_t i = 0; i < count; i++)
        f->algorithm[number_of(f, o, groups[i])] = algorithm;
}
