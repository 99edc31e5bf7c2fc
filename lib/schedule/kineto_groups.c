/* kineto_groups.c - the process group of a communication (kineto.h).
 *
 * Its ranks are, in this order: "Process Group Ranks" of the event, which PyTorch cuts behind the 30th; those of the
 * group "Process Group Name" in "distributedInfo", "pg_config"; "Group size" ranks from "Global rank start" on, each
 * "Global rank stride" further. Events of gloo, and of PyTorch before 2.2, name no group: all ranks are taken, and that
 * is noted unless pg_config has a single group. */
#include "schedule/kineto.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool numbers_of_text(const char *text, uint64_t *number, size_t most, size_t *count)
{
    text += *text == '[';
    while (*text && *text != ']') {
        char *end;
        if (!isdigit((unsigned char)*text) || *count == most)
            return false;
        number[(*count)++] = strtoull(text, &end, 10);
        text = end + strspn(end, ", ");
    }
    return true;
}

bool kineto_numbers(const json_t *list, uint64_t *number, size_t most, size_t *count)
{
    size_t i;
    json_t *item;
    *count = 0;
    if (json_is_string(list))
        return numbers_of_text(json_string_value(list), number, most, count);
    if (!json_is_array(list) || json_array_size(list) > most)
        return false;
    json_array_foreach(list, i, item)
    {
        if (!json_is_integer(item) || json_integer_value(item) < 0)
            return false;
        number[(*count)++] = (uint64_t)json_integer_value(item);
    }
    return true;
}

/* The ranks that the file names for a group; NULL: none. */
static const json_t *configured(const struct kineto_file *f, const char *name)
{
    size_t i;
    json_t *group;
    json_array_foreach(json_object_get(f->distributed, "pg_config"), i, group)
    {
        const char *own = json_string_value(json_object_get(group, "pg_name"));
        if (own && name && strcmp(own, name) == 0)
            return json_object_get(group, "ranks");
    }
    return NULL;
}

/* Reads the ranks of an even grid. */
static bool find_even(const json_t *args, uint64_t *number, size_t most, size_t *count)
{
    json_int_t start = json_integer_value(json_object_get(args, "Global rank start"));
    json_int_t stride = json_integer_value(json_object_get(args, "Global rank stride"));
    json_int_t size = json_integer_value(json_object_get(args, "Group size"));
    if (start < 0 || stride < 1 || size < 1 || (uint64_t)size > most || start > (json_int_t)most ||
        stride > (json_int_t)most)
        return false;
    for (*count = 0; *count < (size_t)size; ++*count)
        number[*count] = (uint64_t)start + *count * (uint64_t)stride;
    return true;
}

static bool find(struct kineto_trace *t, const struct kineto_file *f, const struct kineto_communication *communication,
                 uint64_t *number, size_t *count)
{
    const json_t *args = json_object_get(communication->event, "args");
    const char *name = json_string_value(json_object_get(args, "Process Group Name"));
    json_int_t size = json_integer_value(json_object_get(args, "Group size"));
    if (kineto_numbers(json_object_get(args, "Process Group Ranks"), number, f->ranks, count) && *count)
        return true;
    if (kineto_numbers(configured(f, name), number, f->ranks, count) && *count)
        return true;
    if (find_even(args, number, f->ranks, count))
        return true;
    if (size && size != f->ranks)
        return kineto_fail(f, communication->place, communication->event,
                           "the ranks of group '%.40s' are unknown: Process Group Ranks is cut, and distributedInfo "
                           "has no pg_config of it (record by PyTorch 2.2 or later)",
                           name ? name : "");
    t->without_group += json_array_size(json_object_get(f->distributed, "pg_config")) != 1;
    for (*count = 0; *count < f->ranks; ++*count)
        number[*count] = *count;
    return true;
}

uint32_t *kineto_group_of(struct kineto_trace *t, const struct kineto_file *f, uint32_t rank,
                          const struct kineto_communication *communication, uint32_t *count)
{
    uint64_t *number = hx_allocate(f->ranks, sizeof *number);
    bool *has = hx_allocate(f->ranks, sizeof *has);
    uint32_t *ranks = hx_allocate(f->ranks, sizeof *ranks);
    size_t found;
    bool good = find(t, f, communication, number, &found);
    for (size_t i = 0; good && i < found; i++) {
        good = number[i] < f->ranks && !has[number[i]];
        if (!good)
            (void)kineto_fail(f, communication->place, communication->event,
                              "Process Group Ranks: rank %" PRIu64 " is named twice, or is none of 0 to %" PRIu32,
                              number[i], f->ranks - 1);
        else
            has[number[i]] = true;
        ranks[i] = (uint32_t)number[i];
    }
    if (good && !has[rank])
        good = kineto_fail(f, communication->place, communication->event,
                           "Process Group Ranks: rank %" PRIu32 " is no member", rank);
    if (good && t->alike && found != f->ranks)
        good = kineto_fail(f, communication->place, communication->event,
                           "is of %zu of %" PRIu32 " ranks, so one file cannot stand for all of them", found, f->ranks);
    *count = (uint32_t)found;
    HX_FREE(number, has);
    if (good)
        return ranks;
    free(ranks);
    return NULL;
}
