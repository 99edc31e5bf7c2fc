/* mscclpp_json.c - checked values of an MSCCL++ plan (mscclpp_json.h). */
#include "schedule/mscclpp_json.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *const mscclpp_channel_types[] = {"memory", "port", "switch", NULL};
const char *const mscclpp_buffers[] = {"i", "o", "s", NULL};

static void append(struct mscclpp_list *list, uint32_t number)
{
    list->at = hx_grow(list->at, list->count, &list->room, sizeof *list->at);
    list->at[list->count++] = number;
}

bool mscclpp_fail(struct mscclpp_reader *r, const char *format, ...)
{
    char what[400];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    if (r->block == UINT32_MAX)
        return hx_fail(r->problem, HX_EXIT_CONFIG, r->path, "gpus[%" PRIu32 "]: %s", r->gpu, what);
    if (r->op == UINT32_MAX)
        return hx_fail(r->problem, HX_EXIT_CONFIG, r->path, "gpus[%" PRIu32 "].threadblocks[%" PRIu32 "]: %s", r->gpu,
                       r->block, what);
    return hx_fail(r->problem, HX_EXIT_CONFIG, r->path,
                   "gpus[%" PRIu32 "].threadblocks[%" PRIu32 "].ops[%" PRIu32 "]: %s", r->gpu, r->block, r->op, what);
}

static bool take_value(struct mscclpp_reader *r, const json_t *value, const char *what, uint32_t high, uint32_t *number)
{
    *number = 0;
    double real = value ? json_number_value(value) : -1;
    if (!json_is_number(value) || real < 0 || real > high || real != (double)(uint32_t)real)
        return mscclpp_fail(r, "%s: expected a number from 0 to %" PRIu32, what, high);
    *number = (uint32_t)real;
    return true;
}

bool mscclpp_take(struct mscclpp_reader *r, const json_t *object, const char *key, uint32_t high, uint32_t *number)
{
    return take_value(r, json_object_get(object, key), key, high, number);
}

bool mscclpp_take_word(struct mscclpp_reader *r, const json_t *object, const char *key, const char *const *words,
                       const char *expected, uint32_t *index)
{
    const char *text = json_string_value(json_object_get(object, key));
    *index = 0;
    for (uint32_t i = 0; text && words[i]; i++) {
        if (strcmp(words[i], text) == 0) {
            *index = i;
            return true;
        }
    }
    return mscclpp_fail(r, "%s: expected %s", key, expected);
}

bool mscclpp_take_type(struct mscclpp_reader *r, const json_t *object, const char *key, uint32_t *type)
{
    return mscclpp_take_word(r, object, key, mscclpp_channel_types, "memory, port or switch", type);
}

bool mscclpp_take_array(struct mscclpp_reader *r, const json_t *object, const char *key, bool optional,
                        const json_t **array)
{
    *array = json_object_get(object, key);
    return (!*array && optional) || json_is_array(*array) || mscclpp_fail(r, "%s: expected an array", key);
}

bool mscclpp_take_list(struct mscclpp_reader *r, const json_t *object, const char *key, uint32_t high,
                       struct mscclpp_list *list)
{
    const json_t *array;
    uint32_t number;
    if (!mscclpp_take_array(r, object, key, true, &array))
        return false;
    for (size_t i = 0; i < json_array_size(array); i++) {
        if (!take_value(r, json_array_get(array, i), key, high, &number))
            return false;
        append(list, number);
    }
    return true;
}
