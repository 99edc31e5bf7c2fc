/* lines.c - reads text files line by line (host/lines.h). */
#include "host/lines.h"
#include "host/input.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>

bool hx_lines_open(struct hx_lines *l, const char *path, struct hx_problem *problem)
{
    *l = (struct hx_lines){.path = path, .problem = problem, .in = hx_input_open(path, problem)};
    return l->in != NULL;
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

/* Reads a line. A byte 0 in it looks like its end: *zero is then where it stands, else NULL. It shows because line feeds were there
 * before: they are left behind what was read and its end, and behind a byte 0 stands something else. */
static bool read_line(struct hx_lines *l, const char **zero)
{
    const char *last = l->text + sizeof l->text - 1;
    memset(l->text, '\n', sizeof l->text);
    if (!fgets(l->text, sizeof l->text, l->in))
        return false;
    const char *end = l->text + strlen(l->text);
    bool fed = end > l->text && end[-1] == '\n';
    bool whole = end == last || fed || (end[1] == '\n' && (end + 1 == last || end[2] == '\n'));
    *zero = whole ? NULL : end;
    return true;
}

bool hx_lines_next(struct hx_lines *l)
{
    const char *zero;
    while (!l->failed && read_line(l, &zero)) {
        l->line++;
        if (zero) {
            l->failed = !hx_lines_fail(l, zero, "a byte 0, which no text has");
            return false;
        }
        if (!strchr(l->text, '\n') && strlen(l->text) == sizeof l->text - 1) {
            l->failed = !hx_lines_fail(l, NULL, "a line of more than %d letters", HX_LONGEST_LINE);
            return false;
        }
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
