/* lines.c - reads text files line by line (base/lines.h). */
#include "base/lines.h"
#include "base/input.h"
#include "base/value.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static bool begin(struct hx_lines *l)
{
    if (l->in)
        l->text = hx_allocate(l->longest + 2, 1);
    return l->in != NULL;
}

bool hx_lines_open_large(struct hx_lines *l, const char *path, size_t longest, uint64_t most,
                         struct hx_problem *problem)
{
    *l = (struct hx_lines){
        .path = path, .problem = problem, .longest = longest, .most = most, .in = hx_input_open(path, problem)};
    return begin(l);
}

bool hx_lines_open(struct hx_lines *l, const char *path, struct hx_problem *problem)
{
    return hx_lines_open_large(l, path, HX_LONGEST_LINE, 0, problem);
}

bool hx_lines_take(struct hx_lines *l, const char *path, const char *text, size_t bytes, struct hx_problem *problem)
{
    static char none[] = "\n";
    *l = (struct hx_lines){.path = path, .problem = problem, .longest = HX_LONGEST_LINE};
    l->in = fmemopen(bytes ? (char *)(uintptr_t)text : none, bytes ? bytes : 1, "rb");
    return begin(l) || hx_input_fail(path, errno, problem);
}

void hx_lines_close(struct hx_lines *l)
{
    (void)fclose(l->in);
    free(l->text);
    l->in = NULL;
    l->text = NULL;
}

unsigned hx_lines_column(const struct hx_lines *l, const char *at)
{
    return at ? (unsigned)(at - l->text) + 1 : 1;
}

bool hx_lines_fail(const struct hx_lines *l, const char *at, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    hx_fail_at_list(l->problem, l->path, l->line, hx_lines_column(l, at), format, arguments);
    va_end(arguments);
    return false;
}

static char *without_end(char *text, char *end)
{
    while (end > text && isspace((unsigned char)end[-1]))
        end--;
    *end = '\0';
    return text;
}

/* Reads a line with its end, as far as it fits. Returns the bytes; 0: end of file. */
static size_t read_line(struct hx_lines *l)
{
    size_t bytes = 0;
    int c = 0;
    while (bytes < l->longest + 1 && c != '\n' && (c = getc_unlocked(l->in)) != EOF)
        l->text[bytes++] = (char)c;
    l->text[bytes] = '\0';
    l->read += bytes;
    return bytes;
}

/* Skips the UTF-8 byte order mark that some editors write. */
static void skip_mark(char *text)
{
    static const char mark[] = "\xEF\xBB\xBF";
    if (strncmp(text, mark, sizeof mark - 1) == 0)
        memmove(text, text + sizeof mark - 1, strlen(text + sizeof mark - 1) + 1);
}

/* Where the comment of a line begins, or its end. */
static char *comment_of(char *text)
{
    bool quoted = false;
    char *at = text + strcspn(text, "#\"");
    for (; *at && (quoted || *at != '#'); at += 1 + strcspn(at + 1, "#\""))
        quoted = quoted != (*at == '"');
    return at;
}

bool hx_lines_next(struct hx_lines *l)
{
    size_t bytes;
    while (!l->failed && (bytes = read_line(l))) {
        const char *end = l->text + strlen(l->text);
        l->line++;
        if (end < l->text + bytes) {
            l->failed = !hx_lines_fail(l, end, "a byte 0 in a text file");
            return false;
        }
        if (l->text[bytes - 1] != '\n' && bytes == l->longest + 1) {
            l->failed = !hx_lines_fail(l, NULL, "a line of more than %zu letters", l->longest);
            return false;
        }
        if (l->most && l->read > l->most) {
            char most[HX_VALUE_TEXT];
            l->failed =
                !hx_fail(l->problem, HX_EXIT_CONFIG, l->path, "is larger than %s", hx_value_print_bytes(most, l->most));
            return false;
        }
        if (l->line == 1)
            skip_mark(l->text);
        (void)without_end(l->text, comment_of(l->text));
        if (l->text[0])
            return true;
    }
    if (!l->failed && ferror(l->in))
        l->failed = !hx_input_fail(l->path, errno, l->problem);
    return false;
}

char *hx_lines_value(char **rest)
{
    char *value = *rest + strspn(*rest, " \t");
    bool quoted = *value == '"';
    value += quoted;
    char *end = value + strcspn(value, quoted ? "\"" : ",");
    char *comma = end + strcspn(end, ",");
    *rest = *comma ? comma + 1 : NULL;
    if (!quoted)
        return without_end(value, end);
    *end = '\0';
    return value;
}

unsigned hx_lines_cut(struct hx_lines *l, char **value, unsigned most)
{
    char *rest = l->text;
    for (unsigned n = 0; n < most; n++) {
        value[n] = hx_lines_value(&rest);
        if (!rest)
            return n + 1;
    }
    return most + 1;
}
