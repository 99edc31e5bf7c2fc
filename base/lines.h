/* lines.h - reads a text file of short lines whose values stand between commas: what is blank does not count, nor what
 * stands behind a '#'. What is wrong with it is said with file, line and column. */
#ifndef HXMESH_BASE_LINES_H
#define HXMESH_BASE_LINES_H

#include "base/error.h"

#include <stdio.h>

enum { HX_LONGEST_LINE = 510 };

struct hx_lines {
    const char *path; /* not copied */
    FILE *in;
    struct hx_problem *problem;
    unsigned line;                  /* of the file, from 1; 0: none was read */
    bool failed;                    /* *problem says why no line follows */
    char text[HX_LONGEST_LINE + 2]; /* without spaces at its end; values are cut out where they stand */
};

/* False, and the problem says why: it cannot be read. */
bool hx_lines_open(struct hx_lines *l, const char *path, struct hx_problem *problem);
/* Of a file that was read before; the text must outlive it. */
bool hx_lines_take(struct hx_lines *l, const char *path, const char *text, size_t bytes, struct hx_problem *problem);
void hx_lines_close(struct hx_lines *l);

/* The next line that counts; false: there is none, or l->failed. */
bool hx_lines_next(struct hx_lines *l);

/* Cuts the line at its commas into values without spaces around them. Returns how many there are, most + 1: more than
 * `most`. */
unsigned hx_lines_cut(struct hx_lines *l, char **value, unsigned most);

/* The column of the place in the line that `at` points to; NULL: 1. */
unsigned hx_lines_column(const struct hx_lines *l, const char *at);

/* hx_fail_at() for the place in the line that `at` points to; NULL: its begin. */
__attribute__((format(printf, 3, 4))) bool hx_lines_fail(const struct hx_lines *l, const char *at, const char *format,
                                                         ...);

#endif
