/* keys.h - the keys of a kind of file: checked, read and documented from one table.
 *
 * The option with a value's .key reads it (base/options/options.h), so files and the command line accept the same
 * values. Mappings and lists have a row here. Files may contain nothing else. */
#ifndef HXMESH_BASE_YAML_KEYS_H
#define HXMESH_BASE_YAML_KEYS_H

#include "base/options/options.h"
#include "base/yaml/tree.h"

enum hx_yaml_holds {
    HX_YAML_KEYS,    /* a mapping */
    HX_YAML_ENTRIES, /* a list of mappings */
    HX_YAML_PAIR,    /* [number, number] */
    HX_YAML_PAIRS    /* a list of pairs */
};

struct hx_yaml_group {
    const char *key; /* "jobs[].boards"; NULL: end of the table */
    enum hx_yaml_holds holds;
    unsigned least, most; /* entries; most 0: any number */
    bool required;        /* if its parent is present */
    const char *argument; /* the value in the documentation */
    const char *help;
    const char *word; /* key that a single value in place of the mapping sets; NULL: not allowed */
};

struct hx_yaml_kind {
    const char *title;                  /* "Keys of a fabric file" */
    const struct hx_option *options;    /* ends with HX_OPTIONS_END; options without a key are ignored */
    const struct hx_yaml_group *groups; /* in the order of the documentation */
};

/* Reads and checks a file of a kind: known keys only, valid shapes, none missing. Free it with hx_yaml_free(). Returns
 * false and sets *problem on failure. */
bool hx_yaml_open(struct hx_yaml *y, const char *path, const struct hx_yaml_kind *kind, struct hx_problem *problem);

/* Checks a tree that was read. On failure it is freed. */
bool hx_yaml_check(struct hx_yaml *y, const struct hx_yaml_kind *kind, struct hx_problem *problem);

/* Reads and checks text in memory. */
bool hx_yaml_take(struct hx_yaml *y, const char *path, const char *text, size_t bytes, const struct hx_yaml_kind *kind,
                  struct hx_problem *problem);

/* Reads each value within `item`, except in lists, by its option. Texts stay owned by the tree. */
bool hx_yaml_apply(const struct hx_yaml *y, const struct hx_yaml_item *item, const struct hx_option *options,
                   struct hx_problem *problem);

/* Returns false if a value does not apply to the run (base/options/applies.h); the problem names its key. */
bool hx_yaml_applies(const struct hx_yaml *y, const struct hx_yaml_item *item, const struct hx_option *options,
                     uint64_t run, struct hx_problem *problem);

/* Reads the numbers of a pair. Returns false if an entry is not a number. */
bool hx_yaml_pair(const struct hx_yaml *y, const struct hx_yaml_item *pair, uint32_t numbers[2],
                  struct hx_problem *problem);

/* Prints every key, as HX_HELP_MARKDOWN or HX_HELP_MAN. */
void hx_yaml_keys_print(const struct hx_yaml_kind *kind, enum hx_help_format format, FILE *out);

#endif
