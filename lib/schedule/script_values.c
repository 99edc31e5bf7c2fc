/* script_values.c - values, sets of numbers and names of a script (script.h). */
#include "schedule/script.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- errors ---- */

bool script_fail(const struct script *s, const struct hx_yaml_item *item, size_t at, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    hx_fail_at_list(s->problem, s->tree.file, item->line, item->text_column + (unsigned)at, format, arguments);
    va_end(arguments);
    return false;
}

/* " at rank 3, i = 2": where an expression has its value; "" if everywhere. */
static const char *print_place(const struct script *s, const struct script_value *v, char text[128])
{
    text[0] = '\0';
    if (s->no_rank_yet || !v->e.uses)
        return text;
    int used = snprintf(text, 128, " at rank %" PRId64, s->value[SCRIPT_RANK]);
    for (unsigned i = SCRIPT_PARAMETERS + s->parameters; i < s->scope.names && used < 128; i++)
        used += snprintf(text + used, 128 - (size_t)used, ", %.30s = %" PRId64, s->name[i].name, s->value[i]);
    return text;
}

bool script_expect_value(const struct script *s, const struct hx_yaml_item *item)
{
    static const char *const words[] = {
        [HX_YAML_VALUE] = "a single value", [HX_YAML_LIST] = "a list", [HX_YAML_MAPPING] = "a mapping of keys"};
    return item->shape == HX_YAML_VALUE || script_fail(s, item, 0,
                                                       "a single value is expected here, found %s (quote an "
                                                       "expression that begins with '[' or '{')",
                                                       words[item->shape]);
}

/* ---- values ---- */

/* Compiles the expression at `at`; *end is the offset behind it. */
static bool compile(struct script *s, const struct hx_yaml_item *item, size_t at, struct script_value *v, size_t *end)
{
    struct expression_error error;
    *v = (struct script_value){.item = item, .at = at};
    bool good = expression_compile(&v->e, item->text + at, &s->scope, end, &error);
    *end += at;
    return good || script_fail(s, item, at + error.at, "%s", error.what);
}

static bool refuse_rest(const struct script *s, const struct hx_yaml_item *item, size_t at)
{
    return script_fail(s, item, at, "'%.60s' is not expected here", item->text + at);
}

bool script_value_read_any(struct script *s, const struct hx_yaml_item *item, struct script_value *v)
{
    size_t end;
    return script_expect_value(s, item) && compile(s, item, 0, v, &end) &&
           (!item->text[end] || refuse_rest(s, item, end));
}

static bool has_type(const struct script *s, const struct script_value *v, enum expression_type type)
{
    if (type == EXPRESSION_TIME && v->e.type != EXPRESSION_TIME)
        return script_fail(s, v->item, v->at, "a time is expected, with a unit: 15.9 ms, 10us");
    return type == EXPRESSION_TIME || v->e.type == EXPRESSION_NUMBER ||
           script_fail(s, v->item, v->at, "a number is expected, found a %s",
                       v->e.type == EXPRESSION_TIME ? "time" : "condition");
}

bool script_value_read(struct script *s, const struct hx_yaml_item *item, enum expression_type type,
                       struct script_value *v)
{
    return script_value_read_any(s, item, v) && has_type(s, v, type);
}

void script_value_free(struct script_value *v)
{
    expression_free(&v->e);
}

bool script_evaluate(const struct script *s, const struct script_value *v, int64_t low, int64_t high, int64_t *result)
{
    struct expression_error error;
    char place[128];
    if (!expression_value(&v->e, s->value, result, &error))
        return script_fail(s, v->item, v->at + error.at, "%s%s", error.what, print_place(s, v, place));
    if (*result >= low && *result <= high)
        return true;
    if (v->e.steps == 1 && !v->e.uses)
        return script_fail(s, v->item, v->at, "%" PRId64 " is outside %" PRId64 " .. %" PRId64, *result, low, high);
    return script_fail(s, v->item, v->at, "'%.80s' is %" PRId64 "%s, outside %" PRId64 " .. %" PRId64,
                       v->item->text + v->at, *result, print_place(s, v, place), low, high);
}

/* ---- sets ---- */

static bool read_range(struct script *s, const struct hx_yaml_item *item, bool conditions, struct script_range *range)
{
    size_t end;
    if (!script_expect_value(s, item) || !compile(s, item, 0, &range->first, &end))
        return false;
    if (strncmp(item->text + end, "..", 2) == 0) {
        return has_type(s, &range->first, EXPRESSION_NUMBER) && compile(s, item, end + 2, &range->last, &end) &&
               (!item->text[end] || refuse_rest(s, item, end)) && has_type(s, &range->last, EXPRESSION_NUMBER);
    }
    if (item->text[end])
        return refuse_rest(s, item, end);
    return (conditions && range->first.e.type == EXPRESSION_CONDITION) || has_type(s, &range->first, EXPRESSION_NUMBER);
}

bool script_set_read(struct script *s, const struct hx_yaml_item *item, bool conditions, struct script_set *set)
{
    const struct hx_yaml_item *entry = item->shape == HX_YAML_LIST ? hx_yaml_first(item) : item;
    unsigned entries = item->shape == HX_YAML_LIST ? item->entries : 1;
    if (conditions && item->text && strcmp(item->text, "all") == 0)
        return true;
    *set = (struct script_set){.item = item, .range = hx_allocate(entries + 1, sizeof *set->range)};
    while (entry) {
        struct script_range *range = &set->range[set->ranges++];
        if (!read_range(s, entry, conditions, range))
            return false;
        set->uses |= range->first.e.uses | range->last.e.uses;
        entry = item->shape == HX_YAML_LIST ? hx_yaml_next(item, entry) : NULL;
    }
    return true;
}

void script_set_free(struct script_set *set)
{
    for (unsigned i = 0; i < set->ranges; i++) {
        script_value_free(&set->range[i].first);
        script_value_free(&set->range[i].last);
    }
    free(set->range);
}

bool script_range_bounds(const struct script *s, const struct script_range *range, int64_t low, int64_t high,
                         int64_t *first, int64_t *last)
{
    if (!range->last.item) {
        bool good = script_evaluate(s, &range->first, low, high, first);
        *last = *first;
        return good;
    }
    /* An empty range may begin or end just outside: 0 .. ranks - 1 - n. */
    if (!script_evaluate(s, &range->first, INT64_MIN, INT64_MAX, first) ||
        !script_evaluate(s, &range->last, INT64_MIN, INT64_MAX, last))
        return false;
    return *first > *last ||
           (script_evaluate(s, &range->first, low, high, first) && script_evaluate(s, &range->last, low, high, last));
}

bool script_set_has(const struct script *s, const struct script_set *set, uint32_t rank, bool *is)
{
    *is = !set->item;
    for (unsigned i = 0; i < set->ranges && !*is; i++) {
        const struct script_range *range = &set->range[i];
        int64_t first;
        int64_t last;
        bool is_condition = range->first.e.type == EXPRESSION_CONDITION;
        if (!script_range_bounds(s, range, 0, is_condition ? 1 : (int64_t)s->ranks - 1, &first, &last))
            return false;
        *is = is_condition ? first != 0 : rank >= first && rank <= last;
    }
    return true;
}

/* ---- names ---- */

/* Adds the part at offset *at: an expression in braces, if one is there, and the text behind it. */
static bool read_part(struct script *s, struct script_label *label, size_t *at)
{
    const char *text = label->item->text;
    struct script_label_part *part = &label->part[label->parts++];
    if (text[*at] == '{') {
        if (!compile(s, label->item, *at + 1, &part->value, at) || !has_type(s, &part->value, EXPRESSION_NUMBER))
            return false;
        if (text[*at] != '}')
            return script_fail(s, label->item, *at, "'}' is expected here");
        (*at)++;
    }
    part->text = text + *at;
    part->length = strcspn(part->text, "{");
    *at += part->length;
    return true;
}

bool script_label_read(struct script *s, const struct hx_yaml_item *item, struct script_label *label)
{
    unsigned parts = 1;
    size_t at = 0;
    if (!script_expect_value(s, item))
        return false;
    if (!item->text[0])
        return script_fail(s, item, 0, "a name is expected");
    for (const char *c = item->text; *c; c++)
        parts += *c == '{';
    *label = (struct script_label){.item = item, .part = hx_allocate(parts, sizeof *label->part)};
    while (item->text[at]) {
        if (!read_part(s, label, &at))
            return false;
    }
    return true;
}

bool script_labels_read(struct script *s, const struct hx_yaml_item *item, struct script_labels *labels)
{
    if (item->shape != HX_YAML_LIST) {
        labels->label = hx_allocate(1, sizeof *labels->label);
        labels->labels = 1;
        return script_label_read(s, item, labels->label);
    }
    labels->label = hx_allocate(item->entries + 1, sizeof *labels->label);
    for (const struct hx_yaml_item *entry = hx_yaml_first(item); entry; entry = hx_yaml_next(item, entry)) {
        if (!script_label_read(s, entry, &labels->label[labels->labels++]))
            return false;
    }
    return true;
}

void script_label_free(struct script_label *label)
{
    for (unsigned i = 0; i < label->parts; i++)
        script_value_free(&label->part[i].value);
    free(label->part);
}

void script_labels_free(struct script_labels *labels)
{
    for (unsigned i = 0; i < labels->labels; i++)
        script_label_free(&labels->label[i]);
    free(labels->label);
}

bool script_label_print(const struct script *s, const struct script_label *label, char *text, size_t bytes)
{
    size_t used = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < label->parts; i++) {
        const struct script_label_part *part = &label->part[i];
        int64_t value = 0;
        if (part->value.item && !script_evaluate(s, &part->value, INT64_MIN, INT64_MAX, &value))
            return false;
        if (part->value.item && used < bytes)
            used += (size_t)snprintf(text + used, bytes - used, "%" PRId64, value);
        if (used < bytes)
            used += (size_t)snprintf(text + used, bytes - used, "%.*s", (int)part->length, part->text);
    }
    return used < bytes || script_fail(s, label->item, 0, "a name of more than %zu characters", bytes - 1);
}
