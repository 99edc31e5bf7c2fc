/* lines.h - reads a text file of lines with values between commas (CSV). It skips empty lines, and comments after a '#'
 * outside quotes. Errors have file, line and column. */
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
    unsigned line;       /* of the file, from 1; 0: none read */
    bool failed;         /* reading failed, see *problem */
    char *text;          /* without trailing space; values are cut in place */
    size_t longest;      /* bytes of a line, at most */
    uint64_t read, most; /* bytes read, and their limit; most 0: no limit */
};

/* Returns false and sets *problem if the file cannot be read. */
bool hx_lines_open(struct hx_lines *l, const char *path, struct hx_problem *problem);
/* The same with limits: bytes of a line, and bytes of the file. */
bool hx_lines_open_large(struct hx_lines *l, const char *path, size_t longest, uint64_t most,
                         struct hx_problem *problem);
/* Reads from a text in memory, which must outlive it. */
bool hx_lines_take(struct hx_lines *l, const char *path, const char *text, size_t bytes, struct hx_problem *problem);
void hx_lines_close(struct hx_lines *l);

/* Reads the next line that is not empty. Returns false at the end, or if l->failed. */
bool hx_lines_next(struct hx_lines *l);

/* Cuts the next value out of the line, without quotes or surrounding space. *rest: behind its comma; NULL: it is the
 * last. */
char *hx_lines_value(char **rest);

/* Cuts the line at its commas into such values. Returns their number; most + 1: more than `most`. */
unsigned hx_lines_cut(struct hx_lines *l, char **value, unsigned most);

/* Returns the column of `at` in the line; NULL: 1. */
unsigned hx_lines_column(const struct hx_lines *l, const char *at);

/* Calls hx_fail_at() for the place of `at` in the line; NULL: its start. */
__attribute__((format(printf, 3, 4))) bool hx_lines_fail(const struct hx_lines *l, const char *at, const char *format,
                                                         ...);

#endif
