/* yaml.c - the YAML format, for schedules that people write by hand: format "yaml", files *.schedule.yaml.
 *
 *     file        ranks: NUMBER                   may use parameters; --ranks replaces it
 *                 parameters: {NAME: VALUE, ...}  each may use those above it, `rank` and `ranks`
 *                 groups: {NAME: GROUP, ...}
 *                 program: LIST                   its statements run at once
 *     LIST        [STATEMENT, ...]                in a `do` each after the end of the former, in a `together` all at once
 *     STATEMENT   compute: TIME                   stream
 *                 send: BYTES, to: RANK           tag (0), stream
 *                 receive: BYTES, from: RANK|any  tag (0, or any), stream
 *                 collective: KIND, bytes: BYTES  group (all), algorithm, root: position in the group (0)
 *                 do: LIST | together: LIST       a block; with repeat: TIMES a repeated one, with for: {NAME: SET}
 *                                                 unrolled, where NAME takes each value in turn
 *       each also ranks: SET | CONDITION | all    only these ranks
 *                 name: NAME
 *                 after, after_start: NAME | [NAME, ...]    instead of the order of the list
 *     SET         VALUE | FIRST..LAST | [either, ...]
 *     GROUP       SET | {size: NUMBER, stride: NUMBER}
 *     NAME        text, with expressions in braces: "forward {i - 1}"
 *     others      expressions (expression.h)
 *
 * A statement becomes one operation of each of its ranks, a repeat one with its body. Where several
 * statements wait for more than eight operations, a compute operation of 0 ps on the last stream joins these. */
#include "schedule/yaml.h"
#include "base/input.h"
#include "schedule/readers.h"
#include "schedule/script.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_STATEMENTS (UINT64_C(1) << 28)
enum { LARGEST_FILE = 1 << 20 };

/* ---- names ---- */

static bool add_name(struct script *s, const struct hx_yaml_item *item, enum expression_type type, unsigned uses)
{
    const char *name = hx_yaml_word(item);
    const char *why;
    bool is_name = expression_is_name(name, &why);
    for (unsigned i = 0; is_name && i < SCRIPT_PARAMETERS; i++) {
        is_name = strcmp(name, s->name[i].name) != 0;
        why = "has a meaning of its own: choose another name";
    }
    if (!is_name)
        return hx_yaml_fail_key(&s->tree, item, s->problem, "'%s' %s", name, why);
    s->name[s->scope.names++] = (struct expression_name){name, type, uses};
    return true;
}

static bool expect_mapping(const struct script *s, const struct hx_yaml_item *item, const char *what)
{
    return item->shape == HX_YAML_MAPPING || script_fail(s, item, 0, "a mapping of names to %s is expected here", what);
}

/* Gives parameters the values of --set. */
static bool replace_values(struct script *s, const struct hx_yaml_item *mapping, const struct hx_option_list *set)
{
    const char *words[SCRIPT_MOST_NAMES];
    char hint[HX_HINT_TEXT];
    char name[64];
    unsigned count = 0;
    for (const struct hx_yaml_item *item = hx_yaml_first(mapping); item; item = hx_yaml_next(mapping, item))
        words[count++] = hx_yaml_word(item);
    words[count] = NULL;
    for (unsigned i = 0; i < set->count; i++) {
        const char *value = strchr(set->item[i], '=');
        if (!value)
            return hx_fail(s->problem, HX_EXIT_USAGE, "--set", "'%s' is not NAME=VALUE", set->item[i]);
        (void)snprintf(name, sizeof name, "%.*s", (int)(value - set->item[i]), set->item[i]);
        const struct hx_yaml_item *item = script_key(mapping, name);
        if (!item || !item->text)
            return hx_fail(s->problem, HX_EXIT_USAGE, "--set", "the file has no parameter '%s'%s", name,
                           hx_did_you_mean(hint, name, words));
        struct hx_yaml_item *own = &s->tree.items[item - s->tree.items];
        size_t bytes = strlen(value);
        free(own->text);
        own->text = memcpy(hx_allocate(bytes, 1), value + 1, bytes);
    }
    return true;
}

/* After a parameter's value was refused: names the option that gave it, if one did. */
static bool blame_option(const struct script *s, const struct hx_yaml_item *item, const struct hx_option_list *set)
{
    const char *name = hx_yaml_word(item);
    size_t length = strlen(name);
    for (unsigned i = 0; i < set->count; i++) {
        char what[sizeof s->problem->what];
        if (strncmp(set->item[i], name, length) != 0 || set->item[i][length] != '=')
            continue;
        (void)snprintf(what, sizeof what, "%s", s->problem->what);
        return hx_fail(s->problem, HX_EXIT_USAGE, "--set", "'%s': %s", set->item[i], what);
    }
    return false;
}

static bool read_parameters(struct script *s, const struct hx_yaml_item *mapping, const struct hx_option_list *set)
{
    if (!mapping)
        return !set->count || hx_fail(s->problem, HX_EXIT_USAGE, "--set", "the file has no parameters");
    if (!expect_mapping(s, mapping, "values"))
        return false;
    if (!replace_values(s, mapping, set))
        return false;
    s->parameter = hx_allocate(mapping->entries + 1, sizeof *s->parameter);
    for (const struct hx_yaml_item *item = hx_yaml_first(mapping); item; item = hx_yaml_next(mapping, item)) {
        struct script_value *v = &s->parameter[s->parameters++];
        if (!script_value_read_any(s, item, v))
            return blame_option(s, item, set);
        if (!add_name(s, item, v->e.type, v->e.uses))
            return false;
    }
    return true;
}

static bool read_groups(struct script *s, const struct hx_yaml_item *mapping)
{
    const char *why;
    if (!mapping)
        return true;
    if (!expect_mapping(s, mapping, "groups"))
        return false;
    s->group = hx_allocate(mapping->entries + 1, sizeof *s->group);
    for (const struct hx_yaml_item *item = hx_yaml_first(mapping); item; item = hx_yaml_next(mapping, item)) {
        if (!expression_is_name(hx_yaml_word(item), &why))
            return hx_yaml_fail_key(&s->tree, item, s->problem, "'%s' %s", hx_yaml_word(item), why);
        if (!script_group_read(s, item, &s->group[s->groups++]))
            return false;
    }
    return true;
}

/* ---- ranks ---- */

/* Sets the parameters that do not depend on ranks. */
static bool set_fixed_parameters(struct script *s)
{
    for (unsigned i = 0; i < s->parameters; i++) {
        if (!s->parameter[i].e.uses &&
            !script_evaluate(s, &s->parameter[i], INT64_MIN, INT64_MAX, &s->value[SCRIPT_PARAMETERS + i]))
            return false;
    }
    return true;
}

static bool read_ranks(struct script *s, const struct hx_yaml_item *item, uint32_t given)
{
    struct script_value v = {.item = NULL};
    int64_t ranks = given;
    bool good = given || item || script_fail(s, s->tree.items, 0, "key 'ranks' is missing (or give --ranks)");
    if (good && item) {
        good = script_value_read(s, item, EXPRESSION_NUMBER, &v) && set_fixed_parameters(s);
        if (good && v.e.uses)
            good = script_fail(s, item, 0, "the number of ranks cannot depend on 'rank' or 'ranks'");
        good = good && (given || script_evaluate(s, &v, 1, SCHEDULE_MOST_RANKS, &ranks));
    }
    script_value_free(&v);
    s->ranks = (uint32_t)ranks;
    return good;
}

/* ---- file ---- */

static bool read_script(struct script *s, const struct schedule_read_options *options)
{
    static const char *const words[] = {"ranks", "parameters", "groups", "program", NULL};
    const struct hx_yaml_item *top = s->tree.items;
    if (!expect_mapping(s, top, "values") || !script_keys(s, top, words))
        return false;
    const struct hx_yaml_item *program = script_key(top, "program");
    if (!program)
        return script_fail(s, top, 0, "key 'program' is missing");
    s->name[SCRIPT_RANKS] = (struct expression_name){"ranks", EXPRESSION_NUMBER, EXPRESSION_OF_RANKS};
    s->name[SCRIPT_RANK] = (struct expression_name){"rank", EXPRESSION_NUMBER, EXPRESSION_OF_RANK};
    s->scope = (struct expression_scope){.name = s->name, .names = SCRIPT_PARAMETERS};
    return read_parameters(s, script_key(top, "parameters"), &options->set) &&
           read_ranks(s, script_key(top, "ranks"), (uint32_t)options->ranks) &&
           read_groups(s, script_key(top, "groups")) && script_list_read(s, program, &s->program);
}

static void free_script(struct script *s)
{
    for (unsigned i = 0; i < s->parameters; i++)
        script_value_free(&s->parameter[i]);
    for (unsigned i = 0; i < s->groups; i++)
        script_group_free(&s->group[i]);
    script_list_free(&s->program);
    HX_FREE(s->parameter, s->group);
    hx_yaml_free(&s->tree);
    free(s);
}

struct schedule_builder *schedule_yaml_parse(const char *path, const char *text, size_t bytes,
                                             const struct schedule_read_options *options, uint64_t most,
                                             struct hx_problem *problem)
{
    struct script *s = hx_allocate(1, sizeof *s);
    struct schedule_builder *b = NULL;
    s->problem = problem;
    s->fixed = true;
    if (hx_yaml_parse(&s->tree, path, text, bytes, problem) && read_script(s, options)) {
        b = schedule_builder_new(s->ranks);
        if (!script_unroll(s, b, most)) {
            schedule_builder_free(b);
            b = NULL;
        }
    }
    free_script(s);
    return b;
}

static struct schedule_builder *read_yaml(const char *path, const struct schedule_read_options *options,
                                          struct schedule_notes *notes, struct hx_problem *problem)
{
    char *text = NULL;
    size_t bytes = 0;
    (void)notes;
    if (!hx_input_read(path, LARGEST_FILE, "schedule in YAML", &text, &bytes, problem))
        return NULL;
    struct schedule_builder *b = schedule_yaml_parse(path, text, bytes, options, MOST_STATEMENTS, problem);
    free(text);
    return b;
}

/* Whether the first word, behind comments and "---", is a key: small letters and a colon. */
static bool is_yaml(const uint8_t *begin, size_t bytes)
{
    static const uint8_t mark[] = {0xef, 0xbb, 0xbf}; /* of UTF-8 */
    size_t at = bytes >= sizeof mark && memcmp(begin, mark, sizeof mark) == 0 ? sizeof mark : 0;
    for (; at < bytes; at++) {
        if (begin[at] == '#' || begin[at] == '-')
            while (at < bytes && begin[at] != '\n')
                at++;
        else if (!isspace(begin[at]) && begin[at] != '{')
            break;
    }
    size_t word = at;
    while (at < bytes && (islower(begin[at]) || begin[at] == '_'))
        at++;
    return at > word && at < bytes && begin[at] == ':';
}

const struct schedule_format schedule_yaml = {
    .name = "yaml", .what = "hxmesh's YAML, written by hand", .is = is_yaml, .read = read_yaml};
