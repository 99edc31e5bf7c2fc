/* lines.h - reads a text file of lines with values between commas (CSV): blank lines do not count, nor what
 * stands behind a '#' outside quotes. Errors name file, line and column. */
#ifndef HXMESH_BASE_LINES_H
#define HXMESH_BASE_LINES_H

#include "base/error.h"

#include <stdint.h>
#include <stdio.h>

enum { HX_LONGEST_LINE = 510 /* where nothing else is said */ };

struct hx_lines {
    const char *path; /* not copied */
    FILE *in;
    struct hx_problem *problem;
    unsigned line;       /* of the file, from 1; 0: none was read */
    bool failed;         /* *problem says why no line follows */
    char *text;          /* without spaces at its end; values are cut out where they stand */
    size_t longest;      /* letters of a line */
    uint64_t read, most; /* bytes so far, and at most; most 0: any number */
};

/* False, and the problem says why: it cannot be read. */
bool hx_lines_open(struct hx_lines *l, const char *path, struct hx_problem *problem);
/* Of a file of so many bytes, with lines of so many letters, at most. */
bool hx_lines_open_large(struct hx_lines *l, const char *path, size_t longest, uint64_t most,
                         struct hx_problem *problem);
/* Of a file that was read before; the text must outlive it. */
bool hx_lines_take(struct hx_lines *l, const char *path, const char *text, size_t bytes, struct hx_problem *problem);
void hx_lines_close(struct hx_lines *l);

/* The next line that counts; false: there is none, or l->failed. */
bool hx_lines_next(struct hx_lines *l);

/* Cuts the next value out of the line: without spaces around it, or quotes. *rest: behind its comma; NULL: it was the
 * last. */
char *hx_lines_value(char **rest);

/* Cuts the line at its commas into such values. Returns how many there are, most + 1: more than `most`. */
unsigned hx_lines_cut(struct hx_lines *l, char **value, unsigned most);

/* The column of the place in the line that `at` points to; NULL: 1. */
unsigned hx_lines_column(const struct hx_lines *l, const char *at);

/* hx_fail_at() for the place in the line that `at` points to; NULL: its begin. */
__attribute__((format(printf, 3, 4))) bool hx_lines_fail(const struct hx_lines *l, const char *at, const char *format,
                                                         ...);

#endif
