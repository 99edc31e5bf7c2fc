/* error.c - error lines, exit codes and "did you mean" (base/error.h). */
#include "base/error.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const struct hx_exit_meaning hx_exit_meanings[] = {
    {HX_EXIT_DONE, "done"},
    {HX_EXIT_FAILED, "verification failed"},
    {HX_EXIT_USAGE, "usage"},
    {HX_EXIT_CONFIG, "bad configuration: a spec, what a file says, a file that is not there"},
    {HX_EXIT_ENVIRONMENT, "the machine refused: memory, permission, device, disk"},
    {HX_EXIT_INTERRUPTED, "interrupted and cleaned up"},
    {0, NULL}};

/* Copies text for one line: control characters become '?', UTF-8 stays. */
static void copy_line(char *to, size_t bytes, const char *from)
{
    size_t at = 0;
    for (; from[at] && at + 1 < bytes; at++)
        to[at] = iscntrl((unsigned char)from[at]) ? '?' : from[at];
    to[at] = '\0';
}

static void fill(struct hx_problem *p, int exit_code, const char *where, const char *format, va_list arguments)
{
    char what[sizeof p->what];
    vsnprintf(what, sizeof what, format, arguments);
    p->exit_code = exit_code;
    copy_line(p->where, sizeof p->where, !where ? "" : where[0] ? where : "''");
    copy_line(p->what, sizeof p->what, what);
}

const char *hx_problem_text(char text[HX_PROBLEM_TEXT], const struct hx_problem *p)
{
    (void)snprintf(text, HX_PROBLEM_TEXT, "%s%s%s", p->where, p->where[0] ? ": " : "", p->what);
    return text;
}

static void print(const char *severity, const struct hx_problem *p)
{
    char text[HX_PROBLEM_TEXT];
    fprintf(stderr, "hxmesh: %s: %s\n", severity, hx_problem_text(text, p));
}

bool hx_fail(struct hx_problem *p, int exit_code, const char *where, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fill(p, exit_code, where, format, arguments);
    va_end(arguments);
    return false;
}

void hx_fail_at_list(struct hx_problem *p, const char *path, unsigned line, unsigned column, const char *format,
                     va_list arguments)
{
    char where[sizeof p->where];
    int used = snprintf(where, sizeof where, "%.200s:%u", path, line);
    if (column)
        snprintf(where + used, sizeof where - (size_t)used, ":%u", column);
    fill(p, HX_EXIT_CONFIG, where, format, arguments);
}

bool hx_fail_at(struct hx_problem *p, const char *path, unsigned line, unsigned column, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    hx_fail_at_list(p, path, line, column, format, arguments);
    va_end(arguments);
    return false;
}

void hx_die(int exit_code, const char *where, const char *format, ...)
{
    struct hx_problem p;
    va_list arguments;
    va_start(arguments, format);
    fill(&p, exit_code, where, format, arguments);
    va_end(arguments);
    hx_die_of(&p);
}

static _Thread_local int (*handed_over)(const struct hx_problem *p);
static _Thread_local void (*said_to)(const struct hx_problem *p);

void hx_error_hand_over(int (*to)(const struct hx_problem *p))
{
    handed_over = to;
}

void hx_error_say_to(void (*to)(const struct hx_problem *p))
{
    said_to = to;
}

void hx_die_of(const struct hx_problem *p)
{
    int (*to)(const struct hx_problem *p) = handed_over;
    handed_over = NULL; /* `to` may fail as well */
    if (to)
        exit(to(p));
    print("error", p);
    exit(p->exit_code);
}

static void say(const char *kind, const char *where, const char *format, va_list arguments)
{
    struct hx_problem p;
    fill(&p, 0, where, format, arguments);
    if (said_to)
        said_to(&p);
    else
        print(kind, &p);
}

void hx_complain(const char *where, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say("error", where, format, arguments);
    va_end(arguments);
}

void hx_warn(const char *where, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say("warning", where, format, arguments);
    va_end(arguments);
}

void *hx_allocate(size_t count, size_t bytes)
{
    void *memory = calloc(count ? count : 1, bytes ? bytes : 1);
    if (!memory)
        hx_die(HX_EXIT_ENVIRONMENT, NULL, "out of memory: %zu times %zu bytes were refused", count, bytes);
    return memory;
}

void *hx_grow(void *array, size_t used, size_t *room, size_t bytes)
{
    enum { FIRST_ROOM = 8 };
    if (used < *room)
        return array;
    *room = *room ? 2 * *room : FIRST_ROOM;
    void *larger = reallocarray(array, *room, bytes);
    if (!larger)
        hx_die(HX_EXIT_ENVIRONMENT, NULL, "out of memory: %zu times %zu bytes were refused", *room, bytes);
    return larger;
}

void hx_free_each(void *const *pointers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(pointers[i]);
}

enum { LONGEST_WORD = 48 };

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Returns the edit distance: letters inserted, deleted, replaced, or two neighbours swapped; ignores case. */
static unsigned edits(const char *word, const char *other)
{
    unsigned rows[3][LONGEST_WORD + 1];
    size_t length = strlen(word);
    size_t other_length = strlen(other);
    if (length > LONGEST_WORD || other_length > LONGEST_WORD)
        return UINT32_MAX;
    for (unsigned j = 0; j <= other_length; j++)
        rows[0][j] = j;
    for (unsigned i = 1; i <= length; i++) {
        const unsigned *before = rows[(i + 1) % 3];
        const unsigned *above = rows[(i - 1) % 3];
        unsigned *row = rows[i % 3];
        row[0] = i;
        for (unsigned j = 1; j <= other_length; j++) {
            int here = tolower((unsigned char)word[i - 1]);
            int there = tolower((unsigned char)other[j - 1]);
            row[j] = least(least(above[j], row[j - 1]) + 1, above[j - 1] + (here != there));
            if (i > 1 && j > 1 && here == tolower((unsigned char)other[j - 2]) &&
                tolower((unsigned char)word[i - 2]) == there)
                row[j] = least(row[j], before[j - 2] + 1);
        }
    }
    return rows[length % 3][other_length];
}

const char *hx_nearest(const char *word, const char *const *words)
{
    const char *nearest = NULL;
    unsigned best = (unsigned)strlen(word) / 3 + 2; /* a third of the letters may be wrong, at least one */
    for (; *words; words++) {
        size_t length = strlen(word);
        bool begins = length >= 3 && strncasecmp(word, *words, length) == 0;
        unsigned distance = begins ? 1 : edits(word, *words);
        if (distance < best && distance < strlen(*words)) {
            best = distance;
            nearest = *words;
        }
    }
    return nearest;
}

const char *hx_did_you_mean(char hint[HX_HINT_TEXT], const char *word, const char *const *words)
{
    const char *nearest = hx_nearest(word, words);
    hint[0] = '\0';
    if (nearest)
        snprintf(hint, HX_HINT_TEXT, " (did you mean '%s'?)", nearest);
    return hint;
}
