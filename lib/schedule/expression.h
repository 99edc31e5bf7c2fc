/* expression.h - integer expressions of the YAML format (yaml.c): compiled once, evaluated for each rank.
 *
 *     A or B, A and B, not A                    of conditions
 *     A == B, !=, <, <=, >, >=                  of two numbers or two times
 *     A + B, A - B, A * B, A / B, A % B, -A     division rounds down, and a remainder has the sign of B
 *     (A), min(A, B), max(A, B), power(A, B), xor(A, B), log2(A)    log2 rounds down
 *     12, 0x1f                                  numbers
 *     64KiB, 1.5 MB                             sizes: numbers of bytes
 *     15.9 ms, 10us                             times in ps, ns, us, ms or s: numbers of picoseconds
 *     rank                                      names: a letter, then letters, digits and '_'
 *
 * `or` binds least, then `and`, `not`, comparisons, sums, products. A condition is 1 or 0 in a sum or product. */
#ifndef SCHEDULE_EXPRESSION_H
#define SCHEDULE_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum expression_type { EXPRESSION_NUMBER, EXPRESSION_TIME, EXPRESSION_CONDITION };

/* What a value depends on: bits. */
enum { EXPRESSION_OF_RANKS = 1, EXPRESSION_OF_RANK = 2, EXPRESSION_OF_LOOP = 4 };

/* A name that expressions may use. Its value is at its index in the values of expression_value(). */
struct expression_name {
    const char *name;
    enum expression_type type;
    unsigned uses;
};

struct expression_scope {
    const struct expression_name *name;
    unsigned names;
};

struct expression_step {
    int64_t value; /* constant, or index of a name */
    uint8_t code;
    uint8_t at; /* offset in the text */
};

/* In postfix order. steps 0: none. */
struct expression {
    struct expression_step *step;
    unsigned steps;
    enum expression_type type;
    unsigned uses; /* EXPRESSION_OF_... */
};

struct expression_error {
    size_t at; /* offset in the text */
    char what[200];
};

enum { EXPRESSION_LONGEST = 255 /* characters of a text */ };

/* Whether a text is a valid new name; else *why says why not. */
bool expression_is_name(const char *text, const char **why);

/* Compiles the expression at the start of a text; *end is the offset of what follows it and its blanks. Free it in any
 * case. Returns false and sets *error. */
bool expression_compile(struct expression *e, const char *text, const struct expression_scope *scope, size_t *end,
                        struct expression_error *error);
/* Accepts a zeroed expression. */
void expression_free(struct expression *e);

/* Returns false and sets *error if a result exceeds 64 bits, a divisor is 0, or a function is not defined there. */
bool expression_value(const struct expression *e, const int64_t *values, int64_t *result,
                      struct expression_error *error);

#endif
