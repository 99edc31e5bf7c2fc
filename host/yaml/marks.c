/* marks.c - the pass over libyaml's events that remembers where everything stands (host/yaml/marks.h). */
#include "host/yaml/marks.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

enum { DEEPEST = 8, MOST_KEYS = 100, LONGEST_PATH = 256 };

struct pass {
    struct hx_yaml_marks *marks;
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
    char where[sizeof p->problem->where];
    snprintf(where, sizeof where, "%s:%u:%u", p->marks->file, line, column);
    return hx_fail(p->problem, HX_EXIT_CONFIG, where, "%s", what);
}

static bool refuse_at(struct pass *p, yaml_mark_t at, const char *what)
{
    return refuse(p, one_based(at.line), one_based(at.column), what);
}

/* libyaml's reader (encoding, control characters) gives a byte offset, its scanner and parser a mark. */
static bool refuse_syntax(struct pass *p)
{
    const char *what = p->parser.problem ? p->parser.problem : "cannot be read";
    if (p->parser.error == YAML_MEMORY_ERROR)
        return hx_fail(p->problem, HX_EXIT_ENVIRONMENT, p->marks->file, "out of memory");
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

static struct hx_yaml_mark *find(const struct hx_yaml_marks *m, const char *path)
{
    for (size_t i = 0; i < m->count; i++)
        if (strcmp(m->marks[i].path, path) == 0)
            return &m->marks[i];
    return NULL;
}

static void add(struct pass *p, const char *path, yaml_mark_t key, const yaml_event_t *value)
{
    struct hx_yaml_marks *m = p->marks;
    if (m->count == m->capacity) {
        m->capacity = m->capacity ? 2 * m->capacity : 64;
        m->marks = realloc(m->marks, m->capacity * sizeof *m->marks);
    }
    char *copy = strdup(path);
    if (!m->marks || !copy)
        hx_die(HX_EXIT_ENVIRONMENT, m->file, "out of memory");
    m->marks[m->count++] = (struct hx_yaml_mark){.path = copy,
                                                 .key_line = one_based(key.line),
                                                 .key_column = one_based(key.column),
                                                 .line = one_based(value->start_mark.line),
                                                 .column = one_based(value->start_mark.column),
                                                 .single = value->type == YAML_SCALAR_EVENT};
}

static bool read_value(struct pass *p, const yaml_event_t *event, const char *path, yaml_mark_t key, unsigned depth);

/* The entries of a list, up to its end. */
static bool read_list(struct pass *p, const char *path, unsigned depth)
{
    for (unsigned index = 0;; index++) {
        yaml_event_t event;
        if (!next(p, &event))
            return false;
        char entry[LONGEST_PATH];
        snprintf(entry, sizeof entry, "%s[%u]", path, index);
        bool end = event.type == YAML_SEQUENCE_END_EVENT;
        bool good = end || read_value(p, &event, entry, event.start_mark, depth);
        yaml_event_delete(&event);
        if (end || !good)
            return good;
    }
}

/* One key and its value. */
static bool read_pair(struct pass *p, const yaml_event_t *key, const char *path, size_t first, unsigned depth)
{
    if (key->type != YAML_SCALAR_EVENT)
        return refuse_at(p, key->start_mark, "a key must be a word");
    char below[LONGEST_PATH];
    snprintf(below, sizeof below, "%s%s%.64s", path, *path ? "." : "", (const char *)key->data.scalar.value);
    for (size_t i = first; i < p->marks->count; i++) {
        if (strcmp(p->marks->marks[i].path, below) == 0) {
            char what[128];
            snprintf(what, sizeof what, "key '%.64s' is given twice (first in line %u)",
                     (const char *)key->data.scalar.value, p->marks->marks[i].key_line);
            return refuse_at(p, key->start_mark, what);
        }
    }
    yaml_event_t value;
    if (!next(p, &value))
        return false;
    bool good = read_value(p, &value, below, key->start_mark, depth);
    yaml_event_delete(&value);
    return good;
}

static bool read_mapping(struct pass *p, const char *path, unsigned depth)
{
    size_t first = p->marks->count;
    for (unsigned keys = 0;; keys++) {
        yaml_event_t key;
        if (!next(p, &key))
            return false;
        bool end = key.type == YAML_MAPPING_END_EVENT;
        bool good = end || (keys < MOST_KEYS ? read_pair(p, &key, path, first, depth)
                                             : refuse_at(p, key.start_mark, "too many keys"));
        yaml_event_delete(&key);
        if (end || !good)
            return good;
    }
}

static bool read_value(struct pass *p, const yaml_event_t *event, const char *path, yaml_mark_t key, unsigned depth)
{
    if (event->type == YAML_ALIAS_EVENT)
        return refuse_at(p, event->start_mark, "aliases are not supported");
    if (depth == DEEPEST)
        return refuse_at(p, event->start_mark, "nested too deep");
    add(p, path, key, event);
    if (event->type == YAML_SEQUENCE_START_EVENT)
        return read_list(p, path, depth + 1);
    if (event->type == YAML_MAPPING_START_EVENT)
        return read_mapping(p, path, depth + 1);
    return true;
}

/* The one document of the stream. */
static bool read_stream(struct pass *p)
{
    bool seen = false;
    for (;;) {
        yaml_event_t event;
        if (!next(p, &event))
            return false;
        bool end = event.type == YAML_STREAM_END_EVENT;
        bool good = true;
        if (event.type == YAML_DOCUMENT_START_EVENT && seen)
            good = refuse_at(p, event.start_mark, "a second document: only one is allowed");
        seen = seen || event.type == YAML_DOCUMENT_START_EVENT;
        if (event.type == YAML_SCALAR_EVENT || event.type == YAML_SEQUENCE_START_EVENT ||
            event.type == YAML_MAPPING_START_EVENT || event.type == YAML_ALIAS_EVENT)
            good = read_value(p, &event, "", event.start_mark, 0);
        yaml_event_delete(&event);
        if (!good)
            return false;
        if (end)
            return seen || refuse(p, 1, 1, "the file is empty");
    }
}

bool hx_yaml_marks_read(struct hx_yaml_marks *m, const char *file, const uint8_t *text, size_t bytes,
                        struct hx_problem *problem)
{
    *m = (struct hx_yaml_marks){.file = file};
    struct pass p = {.marks = m, .text = text, .bytes = bytes, .problem = problem};
    if (!yaml_parser_initialize(&p.parser))
        return hx_fail(problem, HX_EXIT_ENVIRONMENT, file, "out of memory");
    yaml_parser_set_input_string(&p.parser, text, bytes);
    bool good = read_stream(&p);
    yaml_parser_delete(&p.parser);
    if (!good)
        hx_yaml_marks_free(m);
    return good;
}

bool hx_yaml_is_single(const struct hx_yaml_marks *m, const char *path)
{
    const struct hx_yaml_mark *mark = find(m, path);
    return mark && mark->single;
}

void hx_yaml_marks_free(struct hx_yaml_marks *m)
{
    for (size_t i = 0; i < m->count; i++)
        free(m->marks[i].path);
    free(m->marks);
    *m = (struct hx_yaml_marks){.file = m->file};
}

/* The mark of `path`, or of what is around it: "jobs[0].tag", "jobs[0]", "jobs", "". *exact: it is there itself. */
static const struct hx_yaml_mark *find_around(const struct hx_yaml_marks *m, const char *path, bool *exact)
{
    char around[LONGEST_PATH];
    snprintf(around, sizeof around, "%s", path);
    *exact = true;
    for (;;) {
        const struct hx_yaml_mark *mark = find(m, around);
        if (mark || !*around)
            return mark;
        *exact = false;
        size_t end = strlen(around);
        while (end > 0 && around[end] != '.' && around[end] != '[')
            end--;
        around[end] = '\0';
    }
}

static bool fail_at(const struct hx_yaml_marks *m, const char *path, bool at_key, struct hx_problem *problem,
                    const char *format, va_list arguments)
{
    bool exact;
    const struct hx_yaml_mark *mark = find_around(m, path, &exact);
    bool key = at_key || !exact;
    char what[sizeof problem->what];
    char where[sizeof problem->where];
    vsnprintf(what, sizeof what, format, arguments);
    snprintf(where, sizeof where, "%s:%u:%u", m->file, mark ? (key ? mark->key_line : mark->line) : 1,
             mark ? (key ? mark->key_column : mark->column) : 1);
    return hx_fail(problem, HX_EXIT_CONFIG, where, "%s", what);
}

bool hx_yaml_fail(const struct hx_yaml_marks *m, const char *path, struct hx_problem *problem, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fail_at(m, path, false, problem, format, arguments);
    va_end(arguments);
    return false;
}

bool hx_yaml_fail_key(const struct hx_yaml_marks *m, const char *path, struct hx_problem *problem, const char *format,
                      ...)
{
    va_list arguments;
    va_start(arguments, format);
    fail_at(m, path, true, problem, format, arguments);
    va_end(arguments);
    return false;
}
