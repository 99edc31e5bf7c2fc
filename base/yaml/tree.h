/* tree.h - a YAML file as it stands: everything in it by its path, with its text and its place, so that any later error
 * can name line and column.
 *
 * Reading (libyaml's events) refuses what a configuration has no use for: bad syntax, repeated keys, several documents,
 * aliases, deep nesting, more than 1 MiB. What keys there may be, and what their values mean, base/yaml/keys.h says. */
#ifndef HXMESH_BASE_YAML_TREE_H
#define HXMESH_BASE_YAML_TREE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum hx_yaml_shape { HX_YAML_VALUE, HX_YAML_LIST, HX_YAML_MAPPING };

struct hx_yaml_item {
    char *path; /* as one would say it: "traffic.message", "jobs[0].boards[2]"; "" is the whole file */
    char *key;  /* the same for every entry of a list: "jobs[].boards[]" */
    char *text; /* of a value; of the others NULL */
    enum hx_yaml_shape shape;
    unsigned entries;              /* of a list or a mapping */
    size_t size;                   /* this item and all within it: what follows them is item + size */
    unsigned key_line, key_column; /* of the key or list entry; counted from 1 */
    unsigned line, column;         /* of its value */
};

/* Items stand in the file's order, each before what is within it; the first is the whole file. */
struct hx_yaml {
    const char *file; /* its name, not copied */
    struct hx_yaml_item *items;
    size_t count, capacity;
};

/* On failure there is nothing to free. */
bool hx_yaml_read(struct hx_yaml *y, const char *path, struct hx_problem *problem);
/* Of a file that was read before. */
bool hx_yaml_parse(struct hx_yaml *y, const char *path, const char *text, size_t bytes, struct hx_problem *problem);
/* Nothing is done to one of zeros. */
void hx_yaml_free(struct hx_yaml *y);

/* The path of a file that this one names, which lies beside it; to be freed. */
char *hx_yaml_beside(const struct hx_yaml *y, const char *name);

/* What is at `path`; NULL: nothing. */
const struct hx_yaml_item *hx_yaml_find(const struct hx_yaml *y, const char *path);
/* The items right within `outer`, one after the other; NULL: no more. A value has none. */
static inline const struct hx_yaml_item *hx_yaml_next(const struct hx_yaml_item *outer,
                                                      const struct hx_yaml_item *before)
{
    return before + before->size < outer + outer->size ? before + before->size : NULL;
}
static inline const struct hx_yaml_item *hx_yaml_first(const struct hx_yaml_item *outer)
{
    return outer->size > 1 ? outer + 1 : NULL;
}

/* What has that key right within `outer`, which is no value; NULL: nothing. */
const struct hx_yaml_item *hx_yaml_within(const struct hx_yaml_item *outer, const char *key);

/* Fills *problem with HX_EXIT_CONFIG and FILE:LINE:COLUMN of an item's value (NULL: of the whole file) and returns
 * false. */
__attribute__((format(printf, 4, 5))) bool hx_yaml_fail(const struct hx_yaml *y, const struct hx_yaml_item *item,
                                                        struct hx_problem *problem, const char *format, ...);
/* The same at its key. */
__attribute__((format(printf, 4, 5))) bool hx_yaml_fail_key(const struct hx_yaml *y, const struct hx_yaml_item *item,
                                                            struct hx_problem *problem, const char *format, ...);

#endif
