/* tree.h - the contents of a YAML file by path, with text, line and column for later errors.
 *
 * Reading (libyaml's events) refuses what a configuration does not need: bad syntax, repeated keys, several documents,
 * aliases, more than 32 levels, more than 1 MiB. base/yaml/keys.h checks keys and values. */
#ifndef HXMESH_BASE_YAML_TREE_H
#define HXMESH_BASE_YAML_TREE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum hx_yaml_shape { HX_YAML_VALUE, HX_YAML_LIST, HX_YAML_MAPPING };

struct hx_yaml_item {
    char *path; /* "traffic.message", "jobs[0].boards[2]"; "" is the whole file */
    char *key;  /* without indices: "jobs[].boards[]" */
    char *text; /* of a value; else NULL */
    enum hx_yaml_shape shape;
    unsigned entries;              /* of a list or a mapping */
    size_t size;                   /* items of its subtree: the next sibling is item + size */
    unsigned key_line, key_column; /* of the key or list entry; from 1 */
    unsigned line, column;         /* of its value */
    unsigned text_column;          /* of its text's first character, behind the quote */
};

/* Items in the order of the file, parents first; the first is the whole file. */
struct hx_yaml {
    const char *file; /* name, not copied */
    struct hx_yaml_item *items;
    size_t count, capacity;
};

/* Reads a file. Returns false and sets *problem on failure; then there is nothing to free. */
bool hx_yaml_read(struct hx_yaml *y, const char *path, struct hx_problem *problem);
/* The same for text in memory. */
bool hx_yaml_parse(struct hx_yaml *y, const char *path, const char *text, size_t bytes, struct hx_problem *problem);
/* Accepts a zeroed tree. */
void hx_yaml_free(struct hx_yaml *y);

/* Returns the path of a file named in this one, relative to its folder; to be freed. */
char *hx_yaml_beside(const struct hx_yaml *y, const char *name);

/* Returns the item at `path`; NULL: none. */
const struct hx_yaml_item *hx_yaml_find(const struct hx_yaml *y, const char *path);
/* Returns the key of an item in a mapping, without those around it. */
const char *hx_yaml_word(const struct hx_yaml_item *item);
/* Iterate over the direct children of `outer`; NULL: end. A value has none. */
static inline const struct hx_yaml_item *hx_yaml_next(const struct hx_yaml_item *outer,
                                                      const struct hx_yaml_item *before)
{
    return before + before->size < outer + outer->size ? before + before->size : NULL;
}
static inline const struct hx_yaml_item *hx_yaml_first(const struct hx_yaml_item *outer)
{
    return outer->size > 1 ? outer + 1 : NULL;
}

/* Returns the direct child of `outer` with a key; NULL: none. */
const struct hx_yaml_item *hx_yaml_within(const struct hx_yaml_item *outer, const char *key);

/* Sets *problem to HX_EXIT_CONFIG at FILE:LINE:COLUMN of an item's value (NULL: of the whole file). Returns false. */
__attribute__((format(printf, 4, 5))) bool hx_yaml_fail(const struct hx_yaml *y, const struct hx_yaml_item *item,
                                                        struct hx_problem *problem, const char *format, ...);
/* The same at the item's key. */
__attribute__((format(printf, 4, 5))) bool hx_yaml_fail_key(const struct hx_yaml *y, const struct hx_yaml_item *item,
                                                            struct hx_problem *problem, const char *format, ...);

#endif
