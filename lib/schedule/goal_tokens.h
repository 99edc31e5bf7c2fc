/* goal_tokens.h - cuts a GOAL text into tokens, in a stream. The grammar of tokens:
 *
 *     word     [A-Za-z][A-Za-z0-9_]*, at most GOAL_LONGEST_WORD letters
 *     number   [0-9]+; "80000000b" is a number and a word
 *     any      "-1"
 *     colon, open, close     ":", "{", "}"
 *     line     end of a line
 *     end      end of the file
 *
 * Blanks, tabs and carriage returns separate tokens, and comments do: "//" to the end of its line, "/" "*" to "*" "/",
 * which may span lines. */
#ifndef SCHEDULE_GOAL_TOKENS_H
#define SCHEDULE_GOAL_TOKENS_H

#include "base/error.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { GOAL_LONGEST_WORD = 255 };

enum goal_kind { GOAL_WORD, GOAL_NUMBER, GOAL_ANY, GOAL_COLON, GOAL_OPEN, GOAL_CLOSE, GOAL_LINE, GOAL_END, GOAL_OTHER };

struct goal_tokens {
    const char *path; /* not copied */
    FILE *in;
    struct hx_problem *problem;
    uint8_t *buffer;     /* a part of the file */
    size_t at, bytes;    /* place in the buffer, and its end */
    uint64_t before;     /* bytes of the file before the buffer */
    uint64_t line_begin; /* byte of the file at which the current line begins */
    unsigned line;       /* current line, from 1 */

    /* The current token. */
    enum goal_kind kind;
    unsigned of_line;                 /* its line */
    unsigned column;                  /* from 1 */
    uint64_t number;                  /* of GOAL_NUMBER; UINT64_MAX: as large or larger */
    size_t length;                    /* of GOAL_WORD */
    char word[GOAL_LONGEST_WORD + 1]; /* of GOAL_WORD, or the byte of GOAL_OTHER */
};

/* Opens the file; there is no current token. Returns false and sets *problem. */
bool goal_tokens_open(struct goal_tokens *t, const char *path, struct hx_problem *problem);
void goal_tokens_close(struct goal_tokens *t);

/* Reads the next token; behind the end comes the end. Returns false and sets *problem if the file cannot be read, a
 * comment has no end, or a word is too long. */
bool goal_next(struct goal_tokens *t);
/* The same, behind all ends of lines. */
bool goal_next_on_lines(struct goal_tokens *t);

/* Whether the current token is this word. The first letter decides mostly. */
static inline bool goal_is(const struct goal_tokens *t, const char *word)
{
    return t->kind == GOAL_WORD && t->word[0] == word[0] && strcmp(t->word, word) == 0;
}

/* Fails at the current token: "expected WHAT, found TOKEN", and the hint: " (...)" or "". */
bool goal_expected(const struct goal_tokens *t, const char *what, const char *hint);
/* Fails at the current token with this message. */
__attribute__((format(printf, 2, 3))) bool goal_fail(const struct goal_tokens *t, const char *format, ...);

/* Whether a file that begins so is GOAL: behind blanks and comments stands the word num_ranks. more: the file is longer
 * than these bytes. */
bool goal_begins(const uint8_t *begin, size_t bytes, bool more);

#endif
