/* model_values.c - values of the keys of a model file (model_parts.h). */
#include "base/value.h"
#include "schedule/training/model_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool model_evaluate(struct script *s, const struct hx_yaml_item *item, enum expression_type type, int64_t low,
                    int64_t high, uint64_t *value)
{
    struct script_value v = {.item = NULL};
    int64_t result = 0;
    bool good = script_value_read(s, item, type, &v) && script_evaluate(s, &v, low, high, &result);
    script_value_free(&v);
    if (good)
        *value = (uint64_t)result;
    return good;
}

bool model_number(struct script *s, const struct hx_yaml_item *mapping, const char *word, int64_t low, int64_t high,
                  uint64_t *value)
{
    const struct hx_yaml_item *item = script_key(mapping, word);
    return !item || model_evaluate(s, item, EXPRESSION_NUMBER, low, high, value);
}

bool model_number32(struct script *s, const struct hx_yaml_item *mapping, const char *word, int64_t low, int64_t high,
                    uint32_t *value)
{
    uint64_t number = *value;
    bool good = model_number(s, mapping, word, low, high, &number);
    *value = (uint32_t)number;
    return good;
}

bool model_time(struct script *s, const struct hx_yaml_item *mapping, const char *word, uint64_t *ps)
{
    const struct hx_yaml_item *item = script_key(mapping, word);
    return !item || model_evaluate(s, item, EXPRESSION_TIME, 0, SCHEDULE_MOST_TIME, ps);
}

/* Fails with what a value's reader says; NULL: nothing is wrong. */
static bool accept(const struct script *s, const struct hx_yaml_item *item, const char *bad)
{
    return !bad || script_fail(s, item, 0, "%s", bad);
}

bool model_switch(struct script *s, const struct hx_yaml_item *mapping, const char *word, bool *value)
{
    const struct hx_yaml_item *item = script_key(mapping, word);
    char why[HX_WHY_TEXT];
    uint64_t number = 0;
    if (!item)
        return true;
    if (!script_expect_value(s, item))
        return false;
    const char *bad = hx_value_switch(item->text, value, why);
    if (bad && !model_evaluate(s, item, EXPRESSION_NUMBER, 0, 1, &number))
        return accept(s, item, bad);
    *value = bad ? number == 1 : *value;
    return true;
}

bool model_choice(struct script *s, const struct hx_yaml_item *mapping, const char *word, const char *const *words,
                  unsigned *value)
{
    const struct hx_yaml_item *item = script_key(mapping, word);
    return !item || script_choice(s, item, words, value);
}

bool model_share(struct script *s, const struct hx_yaml_item *mapping, const char *word, double *value)
{
    const struct hx_yaml_item *item = script_key(mapping, word);
    char why[HX_WHY_TEXT];
    return !item || (script_expect_value(s, item) && accept(s, item, hx_value_real(item->text, 0, 1, value, why)) &&
                     (*value > 0 || script_fail(s, item, 0, "a share of 0 (above 0, at most 1)")));
}

/* Names of units, and their factors; ends with NULL. */
struct unit {
    const char *name;
    double factor;
};

/* Reads "312 TFLOPS" or "312e12": 1 .. 1e21. */
static bool parse_rate(const char *text, const struct unit *units, double *rate)
{
    char number[40];
    char why[HX_WHY_TEXT];
    size_t length = strcspn(text, " BGKMTPFbgkmtpf");
    const char *unit = text + length + strspn(text + length, " ");
    (void)snprintf(number, sizeof number, "%.*s", (int)length, text);
    for (; length < sizeof number && units->name; units++) {
        if (strcasecmp(units->name, unit) != 0)
            continue;
        bool good = !hx_value_real(number, 0, 1e21, rate, why);
        *rate *= units->factor;
        return good && *rate >= 1 && *rate <= 1e21;
    }
    return false;
}

/* what: "operations", with an example. */
static bool read_rate(struct script *s, const struct hx_yaml_item *mapping, const char *word, const struct unit *units,
                      const char *what, double *value)
{
    const struct hx_yaml_item *item = script_key(mapping, word);
    if (!item)
        return true;
    return script_expect_value(s, item) &&
           (parse_rate(item->text, units, value) ||
            script_fail(s, item, 0, "'%.60s' is no rate of 1 .. 1e21 %s", item->text, what));
}

bool model_rate(struct script *s, const struct hx_yaml_item *mapping, const char *word, double *value)
{
    static const struct unit units[] = {{"", 1},          {"FLOPS", 1},     {"GFLOPS", 1e9},
                                        {"TFLOPS", 1e12}, {"PFLOPS", 1e15}, {NULL, 0}};
    return read_rate(s, mapping, word, units, "operations a second (write for example 312 TFLOPS or 312e12)", value);
}

bool model_bandwidth(struct script *s, const struct hx_yaml_item *mapping, const char *word, double *value)
{
    static const struct unit units[] = {{"", 1}, {"B/s", 1}, {"MB/s", 1e6}, {"GB/s", 1e9}, {"TB/s", 1e12}, {NULL, 0}};
    return read_rate(s, mapping, word, units, "bytes a second (write for example 2039 GB/s or 2.039e12)", value);
}

bool model_recompute(struct script *s, const struct hx_yaml_item *mapping, const char *word,
                     enum training_recompute *value)
{
    const struct hx_yaml_item *item = script_key(mapping, word);
    bool full = *value == TRAINING_RECOMPUTE_FULL;
    char why[HX_WHY_TEXT];
    if (!item)
        return true;
    if (!script_expect_value(s, item))
        return false;
    if (strcmp(item->text, training_recompute_names[TRAINING_RECOMPUTE_SELECTIVE]) == 0) {
        *value = TRAINING_RECOMPUTE_SELECTIVE;
        return true;
    }
    if (hx_value_switch(item->text, &full, why))
        return script_fail(s, item, 0, "'%.60s' is none of true, selective, false", item->text);
    *value = full ? TRAINING_RECOMPUTE_FULL : TRAINING_RECOMPUTE_NONE;
    return true;
}

bool model_text(struct script *s, const struct hx_yaml_item *mapping, const char *word, char **text)
{
    const struct hx_yaml_item *item = script_need(s, mapping, word);
    if (!item || !script_expect_value(s, item))
        return false;
    if (!item->text[0])
        return script_fail(s, item, 0, "a name is expected");
    size_t bytes = strlen(item->text) + 1;
    *text = memcpy(hx_allocate(bytes, 1), item->text, bytes);
    return true;
}

bool model_mapping(struct script *s, const struct hx_yaml_item *top, const char *word, const char *const *words,
                   const struct hx_yaml_item **item)
{
    *item = script_key(top, word);
    if (!*item)
        return true;
    return script_expect_mapping(s, *item, "values") && script_check_keys(s, *item, words);
}
