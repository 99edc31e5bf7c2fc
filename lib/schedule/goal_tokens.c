/* goal_tokens.c - tokens of a GOAL text (goal_tokens.h). */
#include "schedule/goal_tokens.h"
#include "base/input.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER = 1 << 18, END_OF_FILE = -1 };

bool goal_tokens_open(struct goal_tokens *t, const char *path, struct hx_problem *problem)
{
    *t = (struct goal_tokens){.path = path, .problem = problem, .line = 1, .of_line = 1, .column = 1};
    t->in = hx_input_open(path, problem);
    if (!t->in)
        return false;
    t->buffer = hx_allocate(BUFFER, 1);
    return true;
}

void goal_tokens_close(struct goal_tokens *t)
{
    (void)fclose(t->in);
    free(t->buffer);
}

/* ---- bytes ---- */

static bool refill(struct goal_tokens *t)
{
    t->before += t->bytes;
    t->at = 0;
    t->bytes = fread(t->buffer, 1, BUFFER, t->in);
    return t->bytes > 0;
}

/* Returns the next byte, which stays, or END_OF_FILE. */
static inline int peek(struct goal_tokens *t)
{
    return t->at < t->bytes || refill(t) ? t->buffer[t->at] : END_OF_FILE;
}

static void begin_line(struct goal_tokens *t)
{
    t->line++;
    t->line_begin = t->before + t->at;
}

static void mark(struct goal_tokens *t)
{
    t->of_line = t->line;
    t->column = (unsigned)(t->before + t->at - t->line_begin) + 1;
}

/* ---- errors ---- */

bool goal_fail(const struct goal_tokens *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    hx_fail_at_list(t->problem, t->path, t->of_line, t->column, format, arguments);
    va_end(arguments);
    return false;
}

bool goal_expected(const struct goal_tokens *t, const char *what, const char *hint)
{
    static const char *const found[] = {[GOAL_NUMBER] = "a number",
                                        [GOAL_ANY] = "'-1'",
                                        [GOAL_COLON] = "':'",
                                        [GOAL_OPEN] = "'{'",
                                        [GOAL_CLOSE] = "'}'",
                                        [GOAL_LINE] = "the end of the line",
                                        [GOAL_END] = "the end of the file"};
    if (t->kind == GOAL_WORD || t->kind == GOAL_OTHER)
        return goal_fail(t, "expected %s, found '%.60s'%s", what, t->word, hint);
    return goal_fail(t, "expected %s, found %s%s", what, found[t->kind], hint);
}

/* ---- tokens ---- */

static void skip_line_comment(struct goal_tokens *t)
{
    int c;
    while ((c = peek(t)) != END_OF_FILE && c != '\n')
        t->at++;
}

static bool skip_comment(struct goal_tokens *t)
{
    int last = 0;
    int c;
    while ((c = peek(t)) != END_OF_FILE) {
        t->at++;
        if (last == '*' && c == '/')
            return true;
        if (c == '\n')
            begin_line(t);
        last = c;
    }
    return goal_fail(t, "a comment has no end (it ends with '*/')");
}

static bool is_letter(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static bool read_word(struct goal_tokens *t)
{
    int c;
    t->kind = GOAL_WORD;
    t->length = 0;
    while (is_letter(c = peek(t)) || is_digit(c) || c == '_') {
        if (t->length == GOAL_LONGEST_WORD)
            return goal_fail(t, "a word of more than %d letters", GOAL_LONGEST_WORD);
        t->word[t->length++] = (char)c;
        t->at++;
    }
    t->word[t->length] = '\0';
    return true;
}

static bool read_number(struct goal_tokens *t)
{
    int c;
    t->kind = GOAL_NUMBER;
    t->number = 0;
    while (is_digit(c = peek(t))) {
        unsigned digit = (unsigned)c - '0';
        bool fits = t->number < UINT64_MAX / 10;
        t->number = fits ? t->number * 10 + digit : UINT64_MAX;
        t->at++;
    }
    return true;
}

static bool read_mark(struct goal_tokens *t, int c)
{
    t->at++;
    t->word[0] = (char)c;
    t->word[1] = '\0';
    t->kind = c == ':' ? GOAL_COLON : c == '{' ? GOAL_OPEN : c == '}' ? GOAL_CLOSE : GOAL_OTHER;
    if (c == '\n') {
        t->kind = GOAL_LINE;
        begin_line(t);
    }
    if (c == '-' && peek(t) == '1') {
        t->kind = GOAL_ANY;
        t->at++;
    }
    return true;
}

bool goal_next(struct goal_tokens *t)
{
    int c;
    while ((c = peek(t)) == ' ' || c == '\t' || c == '\r' || c == '/') {
        mark(t);
        t->at++;
        if (c != '/')
            continue;
        if (peek(t) == '/') {
            skip_line_comment(t);
        } else if (peek(t) == '*') {
            t->at++;
            if (!skip_comment(t))
                return false;
        } else {
            t->kind = GOAL_OTHER;
            memcpy(t->word, "/", 2);
            return true;
        }
    }
    mark(t);
    if (is_letter(c))
        return read_word(t);
    if (is_digit(c))
        return read_number(t);
    if (c != END_OF_FILE)
        return read_mark(t, c);
    t->kind = GOAL_END;
    return !ferror(t->in) || hx_input_fail(t->path, errno, t->problem);
}

bool goal_next_on_lines(struct goal_tokens *t)
{
    bool good;
    while ((good = goal_next(t)) && t->kind == GOAL_LINE)
        ;
    return good;
}

/* ---- the beginning of a file ---- */

/* Returns the bytes of the comment at `at`: 0: none, `bytes`: it does not end here. */
static size_t comment_bytes(const uint8_t *at, size_t bytes)
{
    const uint8_t *end = NULL;
    if (bytes < 2 || at[0] != '/' || (at[1] != '/' && at[1] != '*'))
        return 0;
    if (at[1] == '/')
        end = memchr(at, '\n', bytes);
    else if ((end = memmem(at + 2, bytes - 2, "*/", 2)))
        end++;
    return end ? (size_t)(end - at) + 1 : bytes;
}

/* Returns the bytes of blanks and comments at the begin; *commented: there are comments. */
static size_t blank_bytes(const uint8_t *begin, size_t bytes, bool *commented)
{
    size_t at = 0;
    size_t comment = 0;
    *commented = false;
    while (at < bytes && ((comment = comment_bytes(begin + at, bytes - at)) || isspace(begin[at]))) {
        at += comment ? comment : 1;
        *commented = *commented || comment;
    }
    return at;
}

bool goal_begins(const uint8_t *begin, size_t bytes, bool more)
{
    static const char word[] = "num_ranks";
    const size_t length = sizeof word - 1;
    bool commented;
    size_t at = blank_bytes(begin, bytes, &commented);
    size_t left = bytes - at;
    if (left == 0)
        return more && commented;
    if (memcmp(begin + at, word, left < length ? left : length) != 0)
        return false;
    return left > length ? !isalnum(begin[at + length]) && begin[at + length] != '_' : left == length || more;
}
