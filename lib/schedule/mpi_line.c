/* mpi_line.c - words and numbers of a line of an MPI trace (mpi_line.h). */
#include "schedule/mpi_line.h"

#include <inttypes.h>
#include <string.h>

bool mpi_line_next(struct mpi_line *line)
{
    bool is_there = hx_lines_next(&line->lines);
    line->at = line->lines.text;
    return is_there;
}

bool mpi_line_is_end(struct mpi_line *line)
{
    line->at += strspn(line->at, " \t");
    return *line->at == '\0';
}

char *mpi_line_word(struct mpi_line *line, const char *what)
{
    if (mpi_line_is_end(line)) {
        (void)hx_lines_fail(&line->lines, line->at, "%s is missing", what);
        return NULL;
    }
    char *word = line->at;
    line->at += strcspn(word, " \t");
    if (*line->at)
        *line->at++ = '\0';
    return word;
}

bool mpi_line_skip(struct mpi_line *line, const char *word)
{
    size_t length = strlen(word);
    if (mpi_line_is_end(line) || strncmp(line->at, word, length) != 0 || !strchr(" \t", line->at[length]))
        return false;
    line->at += length;
    return true;
}

static bool wrong(const struct mpi_line *line, const char *what, uint64_t most)
{
    int length = (int)strcspn(line->at, " \t,:=");
    if (length == 0)
        return hx_lines_fail(&line->lines, line->at, "%s is missing (0 to %" PRIu64 ")", what, most);
    return hx_lines_fail(&line->lines, line->at, "'%.*s' is not %s (0 to %" PRIu64 ")", length < 40 ? length : 40,
                         line->at, what, most);
}

bool mpi_line_number(struct mpi_line *line, const char *what, uint64_t most, char end, uint64_t *number)
{
    uint64_t n = 0;
    (void)mpi_line_is_end(line);
    char *at = line->at;
    for (; *at >= '0' && *at <= '9'; at++) {
        unsigned digit = (unsigned)(*at - '0');
        if (n > (most - digit) / 10 || digit > most)
            return wrong(line, what, most);
        n = 10 * n + digit;
    }
    if (at == line->at || !strchr(" \t,:=", *at))
        return wrong(line, what, most);
    if (end == ' ' ? !strchr(" \t", *at) : *at != end)
        return hx_lines_fail(&line->lines, at, "%s is wanted behind %s",
                             end == ' ' ? "a space" : (char[]){'\'', end, '\'', 0}, what);
    line->at = at + (*at == end);
    *number = n;
    return true;
}
