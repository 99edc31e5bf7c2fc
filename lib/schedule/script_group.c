/* script_group.c - groups of ranks of a script (script.h). */
#include "schedule/script.h"

#include <inttypes.h>
#include <stdlib.h>

bool script_group_read(struct script *s, const struct hx_yaml_item *item, struct script_group *group)
{
    static const char *const words[] = {"size", "stride", NULL};
    group->item = item;
    if (item->shape != HX_YAML_MAPPING) {
        if (!script_set_read(s, item, false, &group->members))
            return false;
        group->uses = group->members.uses;
        return true;
    }
    const struct hx_yaml_item *size = script_key(item, "size");
    const struct hx_yaml_item *stride = script_key(item, "stride");
    if (!script_check_keys(s, item, words))
        return false;
    if (!size && !stride)
        return script_fail(s, item, 0, "a group is a list of ranks, or has a size, a stride or both");
    group->strided = true;
    if ((size && !script_value_read(s, size, EXPRESSION_NUMBER, &group->size)) ||
        (stride && !script_value_read(s, stride, EXPRESSION_NUMBER, &group->stride)))
        return false;
    group->uses = group->size.e.uses | group->stride.e.uses;
    return true;
}

void script_group_free(struct script_group *group)
{
    script_set_free(&group->members);
    script_value_free(&group->size);
    script_value_free(&group->stride);
}

/* ---- a rank's group ---- */

struct members {
    uint32_t *rank;
    size_t count, room;
};

static void add_member(struct members *m, int64_t rank)
{
    m->rank = hx_grow(m->rank, m->count, &m->room, sizeof *m->rank);
    m->rank[m->count++] = (uint32_t)rank;
}

/* Ranks are dealt into blocks of size x stride; in a block, those with the same remainder by stride are a group. */
static bool collect_strided(const struct script *s, const struct script_group *group, uint32_t rank, struct members *m)
{
    int64_t ranks = s->ranks;
    int64_t stride = 1;
    int64_t size = 0;
    if (group->stride.item && !script_evaluate(s, &group->stride, 1, ranks, &stride))
        return false;
    size = ranks / stride;
    if (group->size.item && !script_evaluate(s, &group->size, 1, ranks, &size))
        return false;
    int64_t block = rank / (size * stride);
    if ((block + 1) * size * stride > ranks)
        return script_fail(s, group->item, 0,
                           "%" PRId64 " ranks of stride %" PRId64 " do not divide %" PRId64 " ranks: rank %" PRIu32
                           " has no group",
                           size, stride, ranks, rank);
    for (int64_t i = 0; i < size; i++)
        add_member(m, block * size * stride + rank % stride + i * stride);
    return true;
}

/* More members than ranks are refused at once, so that the list stays small. */
static bool collect_set(const struct script *s, const struct script_group *group, struct members *m)
{
    for (unsigned i = 0; i < group->members.ranges; i++) {
        int64_t first;
        int64_t last;
        if (!script_range_bounds(s, &group->members.range[i], 0, (int64_t)s->ranks - 1, &first, &last))
            return false;
        if (last >= first && m->count + (uint64_t)(last - first) + 1 > s->ranks)
            return script_fail(s, group->item, 0, "the group has a rank twice");
        for (int64_t rank = first; rank <= last; rank++)
            add_member(m, rank);
    }
    return m->count > 0 || script_fail(s, group->item, 0, "the group has no rank");
}

static bool has_each_once(const struct script *s, const struct script_group *group, const struct members *m)
{
    uint8_t *seen = hx_allocate(s->ranks, 1);
    size_t i = 0;
    while (i < m->count && !seen[m->rank[i]])
        seen[m->rank[i++]] = 1;
    free(seen);
    return i == m->count || script_fail(s, group->item, 0, "the group has rank %" PRIu32 " twice", m->rank[i]);
}

static bool collect(const struct script *s, const struct script_group *group, uint32_t rank, struct members *m)
{
    for (uint32_t i = 0; !group->item && i < s->ranks; i++)
        add_member(m, i);
    if (!group->item)
        return true;
    return group->strided ? collect_strided(s, group, rank, m) : collect_set(s, group, m) && has_each_once(s, group, m);
}

static bool has_rank(const struct script *s, const struct script_statement *st, const struct members *m, uint32_t rank)
{
    size_t i = 0;
    while (i < m->count && m->rank[i] != rank)
        i++;
    return i < m->count || script_fail(s, st->item, 0, "rank %" PRIu32 " is not in the group of its collective", rank);
}

bool script_group_number(const struct script *s, const struct script_statement *st, struct schedule_builder *b,
                         uint32_t rank, uint32_t *number, uint32_t *size)
{
    struct members m = {.count = 0};
    struct script_group *group = st->group;
    uint32_t key = group->item ? rank + 1 : 1;
    if (group->known != key || group->uses & EXPRESSION_OF_LOOP) {
        bool good = collect(s, group, rank, &m) && has_rank(s, st, &m, rank);
        if (good)
            group->number = schedule_add_group(b, m.rank, (uint32_t)m.count);
        free(m.rank);
        if (!good)
            return false;
        group->ranks = (uint32_t)m.count;
        group->known = key;
    }
    *number = group->number;
    *size = group->ranks;
    return true;
}
