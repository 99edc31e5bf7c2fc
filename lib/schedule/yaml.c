/* yaml.c - the YAML format, for schedules that people write by hand: format "yaml", files *.schedule.yaml.
 *
 *     file        ranks: NUMBER                   may use parameters; --ranks replaces it
 *                 parameters: {NAME: VALUE, ...}  each may use those above it, `rank` and `ranks`
 *                 groups: {NAME: GROUP, ...}
 *                 program: LIST                   its statements run at once
 *                 samples, tokens: NUMBER         that an iteration trains
 *                 iterations: NUMBER              of training in the program (1)
 *                 dimensions: [NUMBER, ...]       of the ranks' logical grid
 *     LIST        [STATEMENT, ...]                in a `do` each after the end of the former, in a `together` all at once
 *     STATEMENT   compute: TIME                   stream
 *                 send: BYTES, to: RANK           tag (0), stream
 *                 receive: BYTES, from: RANK|any  tag (0, or any), stream
 *                 collective: KIND, bytes: BYTES  group (all), algorithm, root: position in the group (0);
 *                                                 shares: [WEIGHT, ...] | [[WEIGHT, ...], ...] of an all-to-all
 *                 do: LIST | together: LIST       a block; with repeat: TIMES a repeated one, with for: {NAME: SET}
 *                                                 unrolled, where NAME takes each value in turn
 *       each also ranks: SET | CONDITION | all    only these ranks
 *                 name: NAME
 *                 purpose: WORD                             of an operation; of a block: for those in it without one
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

/* ---- groups ---- */

static bool read_groups(struct script *s, const struct hx_yaml_item *mapping)
{
    const char *why;
    if (!mapping)
        return true;
    if (!script_expect_mapping(s, mapping, "groups"))
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

/* ---- file ---- */

static bool read_script(struct script *s, const struct schedule_read_options *options)
{
    const struct hx_yaml_item *top = s->tree.items;
    if (!script_expect_mapping(s, top, "values") || !script_check_keys(s, top, script_words))
        return false;
    const struct hx_yaml_item *program = script_key(top, "program");
    if (!program)
        return script_fail(s, top, 0, "key 'program' is missing");
    s->name[SCRIPT_RANKS] = (struct expression_name){"ranks", EXPRESSION_NUMBER, EXPRESSION_OF_RANKS};
    s->name[SCRIPT_RANK] = (struct expression_name){"rank", EXPRESSION_NUMBER, EXPRESSION_OF_RANK};
    s->scope = (struct expression_scope){.name = s->name, .names = SCRIPT_PARAMETERS};
    return script_parameters_read(s, script_key(top, "parameters"), "parameter", &options->set) &&
           script_head_read(s, top, (uint32_t)options->ranks) && read_groups(s, script_key(top, "groups")) &&
           script_list_read(s, program, &s->program);
}

static void free_script(struct script *s)
{
    script_parameters_free(s);
    for (unsigned i = 0; i < s->groups; i++)
        script_group_free(&s->group[i]);
    script_list_free(&s->program);
    free(s->group);
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
    s->no_rank_yet = true;
    if (hx_yaml_parse(&s->tree, path, text, bytes, problem) && read_script(s, options)) {
        b = schedule_builder_new(s->ranks);
        script_head_set(s, b);
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

bool schedule_begins_with_key(const uint8_t *begin, size_t bytes, const char *key)
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
    return at > word && at < bytes && begin[at] == ':' &&
           (!key || (at - word == strlen(key) && memcmp(begin + word, key, at - word) == 0));
}

static bool is_yaml(const uint8_t *begin, size_t bytes)
{
    return schedule_begins_with_key(begin, bytes, NULL);
}

const struct schedule_format schedule_yaml = {
    .name = "yaml", .what = "hxmesh's YAML, written by hand", .is = is_yaml, .read = read_yaml};
