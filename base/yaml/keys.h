/* keys.h - what keys a kind of file has: checked, read and documented from one table.
 *
 * A value is read by the option whose .key it is (base/options/options.h), so it is written and refused alike in a file
 * and on the command line. What holds other things has a row here. Both together are all that may be in such a file. */
#ifndef HXMESH_BASE_YAML_KEYS_H
#define HXMESH_BASE_YAML_KEYS_H

#include "base/options/options.h"
#include "base/yaml/tree.h"

enum hx_yaml_holds {
    HX_YAML_KEYS,    /* a mapping */
    HX_YAML_ENTRIES, /* a list of mappings */
    HX_YAML_PAIR,    /* [number, number] */
    HX_YAML_PAIRS    /* a list of such */
};

struct hx_yaml_group {
    const char *key; /* "jobs[].boards"; NULL: the table ends */
    enum hx_yaml_holds holds;
    unsigned least, most; /* entries; most 0: any number */
    bool required;        /* where what it is in is there */
    const char *argument; /* the value in the documentation */
    const char *help;
    const char *word; /* a single value in place of the mapping is the value of this key; NULL: it may not be */
};

struct hx_yaml_kind {
    const char *title;                  /* "Keys of a fabric file" */
    const struct hx_option *options;    /* ends with HX_OPTIONS_END; those without a key are passed over */
    const struct hx_yaml_group *groups; /* in the order of the documentation */
};

/* Reads a file of that kind: it has no other keys, each holds what it may, and none is missing. Then hx_yaml_free(). */
bool hx_yaml_open(struct hx_yaml *y, const char *path, const struct hx_yaml_kind *kind, struct hx_problem *problem);

/* The same of a file that was read before. */
bool hx_yaml_take(struct hx_yaml *y, const char *path, const char *text, size_t bytes, const struct hx_yaml_kind *kind,
                  struct hx_problem *problem);

/* Reads each value within `item`, but for those in lists, by its option. Texts stay the tree's. */
bool hx_yaml_apply(const struct hx_yaml *y, const struct hx_yaml_item *item, const struct hx_option *options,
                   struct hx_problem *problem);

/* Of the same values: false if one is not for such a run (base/options/applies.h); the problem names its key. */
bool hx_yaml_applies(const struct hx_yaml *y, const struct hx_yaml_item *item, const struct hx_option *options,
                     uint64_t run, struct hx_problem *problem);

/* The numbers of a pair; false: one of them is none. */
bool hx_yaml_pair(const struct hx_yaml *y, const struct hx_yaml_item *pair, uint32_t numbers[2],
                  struct hx_problem *problem);

/* Every key, as HX_HELP_MARKDOWN or HX_HELP_MAN. */
void hx_yaml_keys_print(const struct hx_yaml_kind *kind, enum hx_help_format format, FILE *out);

#endif
