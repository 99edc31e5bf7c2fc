/* marks.h - where everything in a YAML file stands, so that any later error can name line and column.
 *
 * A path is written as one would say it: "traffic.message", "jobs[0].boards[2]"; "" is the file's top. This first pass
 * over a file (libyaml's events) also refuses what a configuration has no use for: bad syntax, repeated keys, several
 * documents, aliases, deep nesting. */
#ifndef HXMESH_HOST_YAML_MARKS_H
#define HXMESH_HOST_YAML_MARKS_H

#include "host/error.h"

#include <stddef.h>
#include <stdint.h>

struct hx_yaml_mark {
    char *path;
    unsigned key_line, key_column; /* of the key or list entry; counted from 1 */
    unsigned line, column;         /* of its value */
    bool single;                   /* the value is neither a list nor a mapping */
};

struct hx_yaml_marks {
    const char *file;
    struct hx_yaml_mark *marks;
    size_t count, capacity;
};

/* Reads the text of `file`. On failure there is nothing to free. */
bool hx_yaml_marks_read(struct hx_yaml_marks *m, const char *file, const uint8_t *text, size_t bytes,
                        struct hx_problem *problem);
void hx_yaml_marks_free(struct hx_yaml_marks *m);

/* Whether there is a value at `path`, neither a list nor a mapping. */
bool hx_yaml_is_single(const struct hx_yaml_marks *m, const char *path);

/* Fills *problem with HX_EXIT_CONFIG and FILE:LINE:COLUMN of the value at `path` (of its key or the nearest thing
 * around it, if there is no such value) and returns false. */
__attribute__((format(printf, 4, 5))) bool hx_yaml_fail(const struct hx_yaml_marks *m, const char *path,
                                                        struct hx_problem *problem, const char *format, ...);
/* The same at the key. */
__attribute__((format(printf, 4, 5))) bool hx_yaml_fail_key(const struct hx_yaml_marks *m, const char *path,
                                                            struct hx_problem *problem, const char *format, ...);

#endif
