/* keys.c - checks a file's keys and reads its values by their options (keys.h). */
#include "base/yaml/keys.h"
#include "base/old_names.h"
#include "base/options/applies.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WORDS = HX_MOST_OPTIONS + 32 };

struct check {
    struct hx_yaml *y;
    const struct hx_yaml_kind *kind;
    struct hx_problem *problem;
};

static const struct hx_option *option_of(const struct hx_option *options, const char *key)
{
    for (const struct hx_option *o = options; o->kind != HX_OPTION_END; o++)
        if (o->key && strcmp(o->key, key) == 0)
            return o;
    return NULL;
}

static const struct hx_yaml_group *group_of(const struct hx_yaml_kind *kind, const char *key)
{
    for (const struct hx_yaml_group *g = kind->groups; g->key; g++)
        if (strcmp(g->key, key) == 0)
            return g;
    return NULL;
}

/* Returns the last word of a key that is directly in `outer`, the key of a mapping; else NULL. */
static const char *word_within(const char *outer, const char *key)
{
    size_t length = strlen(outer);
    if (strncmp(key, outer, length) != 0 || (length && key[length] != '.'))
        return NULL;
    const char *word = key + length + (length > 0);
    return *word && !strpbrk(word, ".[") ? word : NULL;
}

/* ---- present keys ---- */

static bool has_shape(struct check *c, const struct hx_yaml_item *item, enum hx_yaml_shape wanted)
{
    static const char *const words[] = {
        [HX_YAML_VALUE] = "a single value", [HX_YAML_LIST] = "a list", [HX_YAML_MAPPING] = "a mapping of keys"};
    return item->shape == wanted || hx_yaml_fail(c->y, item, c->problem, "%s%s%s expected, found %s", item->path,
                                                 *item->path ? ": " : "", words[wanted], words[item->shape]);
}

/* most 0: any number. */
static bool has_entries(struct check *c, const struct hx_yaml_item *list, unsigned least, unsigned most)
{
    if (!has_shape(c, list, HX_YAML_LIST))
        return false;
    if (list->entries < least)
        return hx_yaml_fail(c->y, list, c->problem, "%s: at least %u entries expected", list->path, least);
    return !most || list->entries <= most ||
           hx_yaml_fail(c->y, list, c->problem, "%s: at most %u entries allowed", list->path, most);
}

static bool check_pair(struct check *c, const struct hx_yaml_item *pair)
{
    uint32_t numbers[2];
    return has_entries(c, pair, 2, 2) && hx_yaml_pair(c->y, pair, numbers, c->problem);
}

static bool check_mapping(struct check *c, const struct hx_yaml_item *mapping);

static bool check_group(struct check *c, const struct hx_yaml_item *group, const struct hx_yaml_group *g)
{
    if (g->holds == HX_YAML_KEYS)
        return check_mapping(c, group);
    if (g->holds == HX_YAML_PAIR)
        return check_pair(c, group);
    if (!has_entries(c, group, g->least, g->most))
        return false;
    for (const struct hx_yaml_item *entry = hx_yaml_first(group); entry; entry = hx_yaml_next(group, entry)) {
        if (!(g->holds == HX_YAML_PAIRS ? check_pair(c, entry) : check_mapping(c, entry)))
            return false;
    }
    return true;
}

static bool refuse_unknown(struct check *c, const struct hx_yaml_item *mapping, const struct hx_yaml_item *item)
{
    char hint[HX_HINT_TEXT];
    const char *words[MOST_WORDS + 1];
    unsigned count = 0;
    for (const struct hx_option *o = c->kind->options; o->kind != HX_OPTION_END && count < MOST_WORDS; o++)
        if (o->key && (words[count] = word_within(mapping->key, o->key)))
            count++;
    for (const struct hx_yaml_group *g = c->kind->groups; g->key && count < MOST_WORDS; g++)
        if ((words[count] = word_within(mapping->key, g->key)))
            count++;
    words[count] = NULL;
    const char *word = word_within(mapping->key, item->key);
    return hx_yaml_fail_key(c->y, item, c->problem, "unknown key '%s'%s", word, hx_did_you_mean(hint, word, words));
}

/* Gives a single value that replaces a mapping the key that it stands for. */
static void stand_for(struct hx_yaml *y, const struct hx_yaml_item *item, const char *key)
{
    struct hx_yaml_item *own = &y->items[item - y->items];
    size_t bytes = strlen(key) + 1;
    free(own->key);
    own->key = memcpy(hx_allocate(bytes, 1), key, bytes);
}

/* Gives an item with the old name of a key its new one. */
static bool rename_old(struct check *c, const struct hx_yaml_item *mapping, const struct hx_yaml_item *item)
{
    char where[sizeof c->problem->where];
    const char *name = hx_old_name(item->key);
    if (!name || !option_of(c->kind->options, name))
        return true;
    if (hx_yaml_within(mapping, name))
        return hx_yaml_fail_key(c->y, item, c->problem, "'%s' is the old name of '%s', which is there too", item->key,
                                name);
    (void)snprintf(where, sizeof where, "%.200s:%u:%u", c->y->file, item->key_line, item->key_column);
    stand_for(c->y, item, hx_old_name_read(where, item->key));
    return true;
}

static bool check_key(struct check *c, const struct hx_yaml_item *mapping, const struct hx_yaml_item *item)
{
    if (!rename_old(c, mapping, item))
        return false;
    if (option_of(c->kind->options, item->key))
        return has_shape(c, item, HX_YAML_VALUE);
    const struct hx_yaml_group *g = group_of(c->kind, item->key);
    if (!g)
        return refuse_unknown(c, mapping, item);
    if (!g->word || item->shape != HX_YAML_VALUE)
        return check_group(c, item, g);
    stand_for(c->y, item, g->word);
    return true;
}

/* ---- missing keys ---- */

/* Checks that a required key of this mapping is present and not empty. */
static bool check_required(struct check *c, const struct hx_yaml_item *mapping, const char *key)
{
    const char *word = word_within(mapping->key, key);
    const struct hx_yaml_item *item = word ? hx_yaml_within(mapping, key) : NULL;
    if (word && !item)
        return hx_yaml_fail_key(c->y, mapping, c->problem, "key '%s' is missing", word);
    return !item || !item->text || item->text[0] || hx_yaml_fail(c->y, item, c->problem, "%s: is empty", item->path);
}

static bool check_mapping(struct check *c, const struct hx_yaml_item *mapping)
{
    if (!has_shape(c, mapping, HX_YAML_MAPPING))
        return false;
    for (const struct hx_yaml_item *item = hx_yaml_first(mapping); item; item = hx_yaml_next(mapping, item)) {
        if (!check_key(c, mapping, item))
            return false;
    }
    for (const struct hx_option *o = c->kind->options; o->kind != HX_OPTION_END; o++)
        if (o->key && o->key_required && !check_required(c, mapping, o->key))
            return false;
    for (const struct hx_yaml_group *g = c->kind->groups; g->key; g++)
        if (g->required && !check_required(c, mapping, g->key))
            return false;
    return true;
}

bool hx_yaml_check(struct hx_yaml *y, const struct hx_yaml_kind *kind, struct hx_problem *problem)
{
    struct check c = {.y = y, .kind = kind, .problem = problem};
    bool good = check_mapping(&c, y->items);
    if (!good)
        hx_yaml_free(y);
    return good;
}

bool hx_yaml_open(struct hx_yaml *y, const char *path, const struct hx_yaml_kind *kind, struct hx_problem *problem)
{
    return hx_yaml_read(y, path, problem) && hx_yaml_check(y, kind, problem);
}

bool hx_yaml_take(struct hx_yaml *y, const char *path, const char *text, size_t bytes, const struct hx_yaml_kind *kind,
                  struct hx_problem *problem)
{
    return hx_yaml_parse(y, path, text, bytes, problem) && hx_yaml_check(y, kind, problem);
}

/* ---- values ---- */

bool hx_yaml_pair(const struct hx_yaml *y, const struct hx_yaml_item *pair, uint32_t numbers[2],
                  struct hx_problem *problem)
{
    char why[HX_WHY_TEXT];
    unsigned n = 0;
    for (const struct hx_yaml_item *item = hx_yaml_first(pair); item; item = hx_yaml_next(pair, item)) {
        uint64_t number = 0;
        if (item->shape != HX_YAML_VALUE || hx_value_number(item->text, 0, UINT32_MAX, &number, why))
            return hx_yaml_fail(y, item, problem, "%s: '%s' is not a number that fits", item->path,
                                item->text ? item->text : "");
        numbers[n++] = (uint32_t)number;
    }
    return true;
}

/* Returns an item's name in messages, relative to where it is read. */
static const char *name_within(const struct hx_yaml_item *outer, const struct hx_yaml_item *item)
{
    size_t length = strlen(outer->path);
    return item->path + length + (length > 0);
}

/* Operation on a value. Returns NULL or a message, which at_key reports at the key. */
struct use {
    const char *(*wrong)(const struct hx_option *, const char *text, uint64_t run, char *why);
    uint64_t run;
    bool at_key;
};

static bool use_values(const struct hx_yaml *y, const struct hx_yaml_item *outer, const struct hx_yaml_item *within,
                       const struct hx_option *options, const struct use *use, struct hx_problem *problem)
{
    for (const struct hx_yaml_item *item = hx_yaml_first(within); item; item = hx_yaml_next(within, item)) {
        if (item->shape == HX_YAML_MAPPING && !use_values(y, outer, item, options, use, problem))
            return false;
        const struct hx_option *o = item->shape == HX_YAML_VALUE ? option_of(options, item->key) : NULL;
        char why[HX_WHY_TEXT];
        const char *wrong = o ? use->wrong(o, item->text, use->run, why) : NULL;
        if (wrong)
            return (use->at_key ? hx_yaml_fail_key : hx_yaml_fail)(y, item, problem, "%s: %s", name_within(outer, item),
                                                                   wrong);
    }
    return true;
}

static const char *apply(const struct hx_option *option, const char *text, uint64_t run, char *why)
{
    (void)run;
    return hx_option_apply(option, text, why);
}

bool hx_yaml_apply(const struct hx_yaml *y, const struct hx_yaml_item *item, const struct hx_option *options,
                   struct hx_problem *problem)
{
    return use_values(y, item, item, options, &(struct use){.wrong = apply}, problem);
}

static const char *validate(const struct hx_option *option, const char *text, uint64_t run, char *why)
{
    (void)text;
    return hx_applies_wrong(option, run, HX_APPLIES_KEYS, why);
}

bool hx_yaml_applies(const struct hx_yaml *y, const struct hx_yaml_item *item, const struct hx_option *options,
                     uint64_t run, struct hx_problem *problem)
{
    return use_values(y, item, item, options, &(struct use){.wrong = validate, .run = run, .at_key = true}, problem);
}
