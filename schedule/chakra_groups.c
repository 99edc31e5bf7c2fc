/* chakra_groups.c - process groups of a Chakra trace.
 *
 *     file of --groups   { "NAME": [ rank, ... ], ... }                        as ASTRA-sim's --comm-group-configuration
 *     metadata node      [' [ {"pg_name": "NAME", "ranks": [ rank, ... ]}, ... ] ']      in IOInfo.values, by PyTorch;
 *                        the first and the last two characters are dropped, no ranks: all ranks
 *
 * A metadata node is of its own rank's file and has precedence. A group that a collective uses must name ranks of the
 * trace, none twice. */
#include "schedule/chakra.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static struct chakra_group *add(struct chakra_group **groups, const char *name, uint32_t members)
{
    struct chakra_group *group;
    HASH_FIND_STR(*groups, name, group);
    if (group) {
        HASH_DEL(*groups, group);
        HX_FREE(group->member, group);
    }
    group = hx_allocate(1, sizeof *group + strlen(name) + 1);
    group->member = hx_allocate(members + 1, sizeof *group->member);
    group->index = CHAKRA_NONE;
    strcpy(group->name, name);
    HASH_ADD_STR(*groups, name, group);
    return group;
}

void chakra_groups_free(struct chakra_group **groups)
{
    struct chakra_group *group;
    struct chakra_group *next;
    HASH_ITER(hh, *groups, group, next)
    {
        HASH_DEL(*groups, group);
        HX_FREE(group->member, group);
    }
}

static void add_all(struct chakra_trace *t, struct chakra_group **groups, const char *name)
{
    struct chakra_group *all = add(groups, name, t->ranks);
    for (uint32_t i = 0; i < t->ranks; i++)
        all->member[i] = i;
    all->count = t->ranks;
    all->index = schedule_add_group(t->builder, all->member, all->count);
}

/* Adds a group. Wrong ranks become its problem, which counts when a collective uses it. */
static void add_listed(struct chakra_trace *t, struct chakra_group **groups, const char *name, const json_t *ranks)
{
    size_t count = json_array_size(ranks);
    struct chakra_group *group = add(groups, name, count < t->ranks ? (uint32_t)count : t->ranks);
    t->stamp++;
    if (count == 0) {
        (void)snprintf(group->problem, sizeof group->problem, "has no list of ranks");
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_array_get(ranks, i);
        json_int_t rank = json_is_integer(item) ? json_integer_value(item) : -1;
        if (rank < 0 || rank >= t->ranks) {
            (void)snprintf(group->problem, sizeof group->problem,
                           "has a member that is none of the ranks 0 to %" PRIu32 " of the trace", t->ranks - 1);
            return;
        }
        if (t->seen[rank] == t->stamp) {
            (void)snprintf(group->problem, sizeof group->problem, "has rank %" PRIu32 " twice", (uint32_t)rank);
            return;
        }
        t->seen[rank] = t->stamp;
        group->member[group->count++] = (uint32_t)rank;
    }
    group->index = schedule_add_group(t->builder, group->member, group->count);
}

bool chakra_groups_begin(struct chakra_trace *t)
{
    const char *path = t->options->groups;
    json_error_t error;
    const char *name;
    json_t *ranks;
    t->seen = hx_allocate(t->ranks, sizeof *t->seen);
    add_all(t, &t->groups, "");
    add_all(t, &t->groups, "0");
    if (!path)
        return true;
    json_t *root = json_load_file(path, 0, &error);
    if (!root)
        return error.line > 0 ? hx_fail_at(t->problem, path, (unsigned)error.line, (unsigned)error.column,
                                           "is no JSON: %s", error.text)
                              : hx_fail(t->problem, HX_EXIT_CONFIG, path, "cannot be read: %s", error.text);
    bool good = json_is_object(root) ||
                hx_fail(t->problem, HX_EXIT_CONFIG, path, "has no groups, expected {\"1\": [0, 1], ...}");
    json_object_foreach(root, name, ranks)
    {
        struct chakra_group *group;
        if (!good || strcmp(name, "0") == 0 || !*name)
            continue;
        add_listed(t, &t->groups, name, ranks);
        HASH_FIND_STR(t->groups, name, group);
        if (group->index == CHAKRA_NONE)
            good = hx_fail(t->problem, HX_EXIT_CONFIG, path, "group '%.40s' %s", name, group->problem);
    }
    json_decref(root);
    return good;
}

void chakra_groups_learn(struct chakra_rank *r, struct chakra_text values)
{
    size_t i;
    json_t *item;
    if (values.length < 4)
        return;
    json_t *root = json_loadb(values.at + 2, values.length - 4, 0, NULL);
    json_array_foreach(root, i, item)
    {
        const char *name = json_string_value(json_object_get(item, "pg_name"));
        const json_t *ranks = json_object_get(item, "ranks");
        if (!name || !*name || strcmp(name, "0") == 0 || !json_is_array(ranks))
            continue;
        if (json_array_size(ranks) == 0)
            add_all(r->trace, &r->groups, name);
        else
            add_listed(r->trace, &r->groups, name, ranks);
    }
    json_decref(root);
}

const struct chakra_group *chakra_group_of(const struct chakra_rank *r, const struct chakra_item *item)
{
    const char *name = r->text + item->group;
    struct chakra_group *group;
    HASH_FIND_STR(r->groups, name, group);
    if (!group)
        HASH_FIND_STR(r->trace->groups, name, group);
    if (group && group->index != CHAKRA_NONE)
        return group;
    if (group)
        (void)chakra_fail(r, item, "group '%.40s' %s", name, group->problem);
    else
        (void)chakra_fail(r, item, "group '%.40s' is unknown (--groups FILE names its ranks)", name);
    return NULL;
}
