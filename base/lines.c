/* lines.c - reads text files line by line (base/lines.h). */
#include "base/lines.h"
#include "base/input.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

bool hx_lines_open(struct hx_lines *l, const char *path, struct hx_problem *problem)
{
    *l = (struct hx_lines){.path = path, .problem = problem, .in = hx_input_open(path, problem)};
    return l->in != NULL;
}

bool hx_lines_take(struct hx_lines *l, const char *path, const char *text, size_t bytes, struct hx_problem *problem)
{
    static char none[] = "\n";
    *l = (struct hx_lines){.path = path, .problem = problem};
    l->in = fmemopen(bytes ? (char *)(uintptr_t)text : none, bytes ? bytes : 1, "rb");
    return l->in || hx_input_fail(path, errno, problem);
}

void hx_lines_close(struct hx_lines *l)
{
    (void)fclose(l->in);
    l->in = NULL;
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
    while (bytes < sizeof l->text - 1 && c != '\n' && (c = getc(l->in)) != EOF)
        l->text[bytes++] = (char)c;
    l->text[bytes] = '\0';
    return bytes;
}

/* Skips the UTF-8 byte order mark that some editors write. */
static void skip_mark(char *text)
{
    static const char mark[] = "\xEF\xBB\xBF";
    if (strncmp(text, mark, sizeof mark - 1) == 0)
        memmove(text, text + sizeof mark - 1, strlen(text + sizeof mark - 1) + 1);
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
        if (l->text[bytes - 1] != '\n' && bytes == sizeof l->text - 1) {
            l->failed = !hx_lines_fail(l, NULL, "a line of more than %d letters", HX_LONGEST_LINE);
            return false;
        }
        if (l->line == 1)
            skip_mark(l->text);
        (void)without_end(l->text, l->text + strcspn(l->text, "#"));
        if (l->text[0])
            return true;
    }
    if (!l->failed && ferror(l->in))
        l->failed = !hx_input_fail(l->path, errno, l->problem);
    return false;
}

unsigned hx_lines_cut(struct hx_lines *l, char **value, unsigned most)
{
    char *next = l->text;
    for (unsigned n = 0; n < most; n++) {
        char *from = next + strspn(next, " \t");
        char *comma = from + strcspn(from, ",");
        bool last = *comma == '\0';
        next = comma + 1;
        value[n] = without_end(from, comma);
        if (last)
            return n + 1;
    }
    return most + 1;
}
