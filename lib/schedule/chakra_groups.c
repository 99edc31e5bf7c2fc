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

/* Finds a group, or the place where it belongs. */
static size_t find(const struct chakra_groups *groups, const char *name, bool *found)
{
    size_t low = 0;
    size_t high = groups->count;
    *found = false;
    while (low < high && !*found) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(groups->at[middle]->name, name);
        *found = order == 0;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return high;
}

static void free_group(struct chakra_group *group)
{
    HX_FREE(group->member, group);
}

/* Adds a group with room for its members; replaces one of the same name. */
static struct chakra_group *add(struct chakra_groups *groups, const char *name, uint32_t members)
{
    size_t length = strlen(name) + 1;
    struct chakra_group *group = hx_allocate(1, sizeof *group + length);
    bool found;
    size_t place = find(groups, name, &found);
    group->member = hx_allocate(members + 1, sizeof *group->member);
    group->index = CHAKRA_NONE;
    memcpy(group->name, name, length);
    if (found) {
        free_group(groups->at[place]);
    } else {
        groups->at = hx_grow(groups->at, groups->count, &groups->room, sizeof(struct chakra_group *));
        memmove(groups->at + place + 1, groups->at + place, (groups->count - place) * sizeof(struct chakra_group *));
        groups->count++;
    }
    groups->at[place] = group;
    return group;
}

void chakra_groups_free(struct chakra_groups *groups)
{
    for (size_t i = 0; i < groups->count; i++)
        free_group(groups->at[i]);
    free(groups->at);
}

static void add_all(struct chakra_trace *t, struct chakra_groups *groups, const char *name)
{
    struct chakra_group *all = add(groups, name, t->ranks);
    for (uint32_t i = 0; i < t->ranks; i++)
        all->member[i] = i;
    all->count = t->ranks;
}

/* Adds a group. Wrong ranks become its problem, which counts when a collective uses it. */
static void add_listed(struct chakra_trace *t, struct chakra_groups *groups, const char *name, const json_t *ranks)
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
}

/* "" and "0" are the group of all ranks, whatever a file says. */
static bool is_of_all(const char *name)
{
    return !*name || strcmp(name, "0") == 0;
}

/* Adds the groups of a file, all of which must be right. */
static bool add_file(struct chakra_trace *t, const char *path, json_t *root)
{
    if (!json_is_object(root))
        return hx_fail(t->problem, HX_EXIT_CONFIG, path, "has no groups, expected {\"1\": [0, 1], ...}");
    for (void *i = json_object_iter(root); i; i = json_object_iter_next(root, i)) {
        const char *name = json_object_iter_key(i);
        bool found;
        if (is_of_all(name))
            continue;
        add_listed(t, &t->groups, name, json_object_iter_value(i));
        const struct chakra_group *group = t->groups.at[find(&t->groups, name, &found)];
        if (group->problem[0])
            return hx_fail(t->problem, HX_EXIT_CONFIG, path, "group '%.40s' %s", name, group->problem);
    }
    return true;
}

bool chakra_groups_begin(struct chakra_trace *t)
{
    const char *path = t->options->groups;
    json_error_t error;
    t->seen = hx_allocate(t->ranks, sizeof *t->seen);
    add_all(t, &t->groups, "");
    add_all(t, &t->groups, "0");
    if (!path)
        return true;
    json_t *root = json_load_file(path, 0, &error);
    if (!root && error.line > 0)
        return hx_fail_at(t->problem, path, (unsigned)error.line, (unsigned)error.column, "is no JSON: %s", error.text);
    if (!root)
        return hx_fail(t->problem, HX_EXIT_CONFIG, path, "cannot be read: %s", error.text);
    bool good = add_file(t, path, root);
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
        if (!name || is_of_all(name) || !json_is_array(ranks))
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
    const struct chakra_groups *groups = &r->groups;
    bool found;
    size_t place = find(groups, name, &found);
    if (!found) {
        groups = &r->trace->groups;
        place = find(groups, name, &found);
    }
    struct chakra_group *group = found ? groups->at[place] : NULL;
    if (!group || group->problem[0]) {
        (void)chakra_fail(r, item, "group '%.40s' %s", name,
                          group ? group->problem : "is unknown (--groups FILE names its ranks)");
        return NULL;
    }
    if (group->index == CHAKRA_NONE)
        group->index = schedule_add_group(r->trace->builder, group->member, group->count);
    return group;
}
