/* tree.c - reads a YAML file by libyaml's events into a tree with line and column (tree.h). */
#include "base/yaml/tree.h"
#include "base/input.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

enum { DEEPEST = 32, MOST_KEYS = 100, LONGEST_VALUE = 255, LARGEST_FILE = 1 << 20 };

struct pass {
    struct hx_yaml *y;
    yaml_parser_t parser;
    const uint8_t *text;
    size_t bytes;
    struct hx_problem *problem;
};

static unsigned one_based(size_t place)
{
    return (unsigned)place + 1;
}

static bool refuse(struct pass *p, unsigned line, unsigned column, const char *what)
{
    return hx_fail_at(p->problem, p->y->file, line, column, "%s", what);
}

static bool refuse_at(struct pass *p, yaml_mark_t at, const char *what)
{
    return refuse(p, one_based(at.line), one_based(at.column), what);
}

/* libyaml's reader (encoding, control characters) gives a byte offset, its scanner and parser give a mark. */
static bool refuse_syntax(struct pass *p)
{
    const char *what = p->parser.problem ? p->parser.problem : "cannot be read";
    if (p->parser.error == YAML_MEMORY_ERROR)
        return hx_fail(p->problem, HX_EXIT_ENVIRONMENT, p->y->file, "out of memory");
    if (p->parser.error != YAML_READER_ERROR)
        return refuse_at(p, p->parser.problem_mark, what);
    unsigned line = 1;
    unsigned column = 1;
    for (size_t i = 0; i < p->parser.problem_offset && i < p->bytes; i++) {
        column = p->text[i] == '\n' ? 1 : column + 1;
        line += p->text[i] == '\n';
    }
    return refuse(p, line, column, what);
}

static bool next(struct pass *p, yaml_event_t *event)
{
    return yaml_parser_parse(&p->parser, event) || refuse_syntax(p);
}

/* ---- items ---- */

/* Position of an item: its parent, and its step in path and key. */
struct step {
    size_t outer;
    const char *path, *key; /* ".message" and ".message", "[2]" and "[]" */
    yaml_mark_t mark;
};

static char *joined(const char *outer, const char *step)
{
    step += *outer == '\0' && *step == '.';
    size_t bytes = strlen(outer) + strlen(step) + 1;
    char *text = hx_allocate(bytes, 1);
    snprintf(text, bytes, "%s%s", outer, step);
    return text;
}

static bool is_quoted(const yaml_event_t *event)
{
    return event->type == YAML_SCALAR_EVENT && (event->data.scalar.style == YAML_SINGLE_QUOTED_SCALAR_STYLE ||
                                                event->data.scalar.style == YAML_DOUBLE_QUOTED_SCALAR_STYLE);
}

/* Adds an item. Returns its index. */
static size_t add(struct pass *p, const struct step *at, const yaml_event_t *event)
{
    struct hx_yaml *y = p->y;
    y->items = hx_grow(y->items, y->count, &y->capacity, sizeof *y->items);
    bool top = y->count == 0;
    y->items[y->count] = (struct hx_yaml_item){.path = joined(top ? "" : y->items[at->outer].path, at->path),
                                               .key = joined(top ? "" : y->items[at->outer].key, at->key),
                                               .shape = event->type == YAML_SEQUENCE_START_EVENT  ? HX_YAML_LIST
                                                        : event->type == YAML_MAPPING_START_EVENT ? HX_YAML_MAPPING
                                                                                                  : HX_YAML_VALUE,
                                               .size = 1,
                                               .key_line = one_based(at->mark.line),
                                               .key_column = one_based(at->mark.column),
                                               .line = one_based(event->start_mark.line),
                                               .column = one_based(event->start_mark.column),
                                               .text_column = one_based(event->start_mark.column) + is_quoted(event)};
    return y->count++;
}

static bool read_item(struct pass *p, const yaml_event_t *event, const struct step *at, unsigned depth);

/* Takes the text of a value; refuses what reports and error lines cannot show. */
static bool take_text(struct pass *p, struct hx_yaml_item *item, const yaml_event_t *event)
{
    const char *text = (const char *)event->data.scalar.value;
    size_t bytes = event->data.scalar.length;
    if (bytes > LONGEST_VALUE)
        return refuse_at(p, event->start_mark, "a value of more than 255 characters");
    for (size_t i = 0; i < bytes; i++) {
        if ((unsigned char)text[i] < ' ' || text[i] == 127)
            return refuse_at(p, event->start_mark, "control characters are not allowed");
    }
    item->text = joined(text, "");
    return true;
}

/* Reads the entries of a list up to its end. */
static bool read_list(struct pass *p, size_t list, unsigned depth)
{
    for (unsigned index = 0;; index++) {
        yaml_event_t event;
        if (!next(p, &event))
            return false;
        char path[32];
        snprintf(path, sizeof path, "[%u]", index);
        const struct step at = {.outer = list, .path = path, .key = "[]", .mark = event.start_mark};
        bool end = event.type == YAML_SEQUENCE_END_EVENT;
        bool good = end || read_item(p, &event, &at, depth);
        yaml_event_delete(&event);
        p->y->items[list].entries = index + !end;
        if (end || !good)
            return good;
    }
}

/* Checks that a mapping does not have a key twice. Each item ends before the next begins. */
static bool is_new(struct pass *p, size_t mapping, const char *word, yaml_mark_t at)
{
    const struct hx_yaml *y = p->y;
    const char *outer = y->items[mapping].path;
    size_t begin = strlen(outer) + (*outer != '\0');
    for (size_t i = mapping + 1; i < y->count; i += y->items[i].size) {
        char what[128];
        if (strcmp(y->items[i].path + begin, word) != 0)
            continue;
        snprintf(what, sizeof what, "key '%s' is given twice (first in line %u)", word, y->items[i].key_line);
        return refuse_at(p, at, what);
    }
    return true;
}

/* Reads one key and its value. */
static bool read_pair(struct pass *p, const yaml_event_t *key, size_t mapping, unsigned depth)
{
    if (key->type != YAML_SCALAR_EVENT || !key->data.scalar.value[0])
        return refuse_at(p, key->start_mark, "a key must be a word");
    char word[68];
    snprintf(word, sizeof word, ".%.64s", (const char *)key->data.scalar.value);
    if (strpbrk(word + 1, ".[")) /* paths use them */
        return refuse_at(p, key->start_mark, "a key has neither '.' nor '['");
    if (!is_new(p, mapping, word + 1, key->start_mark))
        return false;
    const struct step at = {.outer = mapping, .path = word, .key = word, .mark = key->start_mark};
    yaml_event_t value;
    if (!next(p, &value))
        return false;
    bool good = read_item(p, &value, &at, depth);
    yaml_event_delete(&value);
    return good;
}

static bool read_mapping(struct pass *p, size_t mapping, unsigned depth)
{
    for (unsigned keys = 0;; keys++) {
        yaml_event_t key;
        if (!next(p, &key))
            return false;
        bool end = key.type == YAML_MAPPING_END_EVENT;
        bool good = end || (keys < MOST_KEYS ? read_pair(p, &key, mapping, depth)
                                             : refuse_at(p, key.start_mark, "too many keys"));
        yaml_event_delete(&key);
        p->y->items[mapping].entries = keys + !end;
        if (end || !good)
            return good;
    }
}

static bool read_item(struct pass *p, const yaml_event_t *event, const struct step *at, unsigned depth)
{
    if (event->type == YAML_ALIAS_EVENT)
        return refuse_at(p, event->start_mark, "aliases are not supported");
    if (depth == DEEPEST)
        return refuse_at(p, event->start_mark, "nested too deep");
    size_t item = add(p, at, event);
    bool good = event->type == YAML_SEQUENCE_START_EVENT  ? read_list(p, item, depth + 1)
                : event->type == YAML_MAPPING_START_EVENT ? read_mapping(p, item, depth + 1)
                                                          : take_text(p, &p->y->items[item], event);
    p->y->items[item].size = p->y->count - item;
    return good;
}

/* Reads the only document of the stream. */
static bool read_stream(struct pass *p)
{
    bool seen = false;
    for (;;) {
        yaml_event_t event;
        if (!next(p, &event))
            return false;
        const struct step top = {.path = "", .key = "", .mark = event.start_mark};
        bool end = event.type == YAML_STREAM_END_EVENT;
        bool good = true;
        if (event.type == YAML_DOCUMENT_START_EVENT && seen)
            good = refuse_at(p, event.start_mark, "a second document: only one is allowed");
        seen = seen || event.type == YAML_DOCUMENT_START_EVENT;
        if (event.type == YAML_SCALAR_EVENT || event.type == YAML_SEQUENCE_START_EVENT ||
            event.type == YAML_MAPPING_START_EVENT || event.type == YAML_ALIAS_EVENT)
            good = read_item(p, &event, &top, 0);
        yaml_event_delete(&event);
        if (!good)
            return false;
        if (end)
            return seen || refuse(p, 1, 1, "the file is empty");
    }
}

static bool parse(struct hx_yaml *y, const uint8_t *text, size_t bytes, struct hx_problem *problem)
{
    struct pass p = {.y = y, .text = text, .bytes = bytes, .problem = problem};
    if (!yaml_parser_initialize(&p.parser))
        return hx_fail(problem, HX_EXIT_ENVIRONMENT, y->file, "out of memory");
    yaml_parser_set_input_string(&p.parser, text, bytes);
    bool good = read_stream(&p);
    yaml_parser_delete(&p.parser);
    return good;
}

/* ---- file ---- */

bool hx_yaml_parse(struct hx_yaml *y, const char *path, const char *text, size_t bytes, struct hx_problem *problem)
{
    *y = (struct hx_yaml){.file = path};
    bool good = parse(y, (const uint8_t *)text, bytes, problem);
    if (!good)
        hx_yaml_free(y);
    return good;
}

bool hx_yaml_read(struct hx_yaml *y, const char *path, struct hx_problem *problem)
{
    char *text = NULL;
    size_t bytes = 0;
    *y = (struct hx_yaml){.file = path};
    if (!hx_input_read(path, LARGEST_FILE, "fabric file", &text, &bytes, problem))
        return false;
    bool good = hx_yaml_parse(y, path, text, bytes, problem);
    free(text);
    return good;
}

void hx_yaml_free(struct hx_yaml *y)
{
    for (size_t i = 0; i < y->count; i++) {
        free(y->items[i].path);
        free(y->items[i].key);
        free(y->items[i].text);
    }
    free(y->items);
    *y = (struct hx_yaml){.file = y->file};
}

const struct hx_yaml_item *hx_yaml_find(const struct hx_yaml *y, const char *path)
{
    for (size_t i = 0; i < y->count; i++)
        if (strcmp(y->items[i].path, path) == 0)
            return &y->items[i];
    return NULL;
}

const char *hx_yaml_word(const struct hx_yaml_item *item)
{
    const char *dot = strrchr(item->key, '.');
    return dot ? dot + 1 : item->key;
}

const struct hx_yaml_item *hx_yaml_within(const struct hx_yaml_item *outer, const char *key)
{
    for (const struct hx_yaml_item *item = hx_yaml_first(outer); item; item = hx_yaml_next(outer, item)) {
        if (strcmp(item->key, key) == 0)
            return item;
    }
    return NULL;
}

/* ---- errors ---- */

bool hx_yaml_fail(const struct hx_yaml *y, const struct hx_yaml_item *item, struct hx_problem *problem,
                  const char *format, ...)
{
    va_list arguments;
    item = item ? item : y->items;
    va_start(arguments, format);
    hx_fail_at_list(problem, y->file, item->line, item->column, format, arguments);
    va_end(arguments);
    return false;
}

bool hx_yaml_fail_key(const struct hx_yaml *y, const struct hx_yaml_item *item, struct hx_problem *problem,
                      const char *format, ...)
{
    va_list arguments;
    item = item ? item : y->items;
    va_start(arguments, format);
    hx_fail_at_list(problem, y->file, item->key_line, item->key_column, format, arguments);
    va_end(arguments);
    return false;
}

char *hx_yaml_beside(const struct hx_yaml *y, const char *name)
{
    const char *slash = strrchr(y->file, '/');
    int folder = slash && name[0] != '/' ? (int)(slash - y->file) + 1 : 0;
    size_t bytes = (size_t)folder + strlen(name) + 1;
    char *path = hx_allocate(bytes, 1);
    (void)snprintf(path, bytes, "%.*s%s", folder, y->file, name);
    return path;
}
