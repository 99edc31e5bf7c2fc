/* keys.h - prints every key of a kind of file: its name and place from the schema that libcyaml reads the file by, value,
 * default and help from the option that reads the value. A key that is in neither ends the program: none is undocumented. */
#ifndef HXMESH_HOST_YAML_KEYS_H
#define HXMESH_HOST_YAML_KEYS_H

#include "host/options/options.h"
#include "host/yaml/values.h"

struct hx_yaml_keys {
    const char *title; /* "Keys of a fabric file" */
    const cyaml_schema_field_t *fields;
    const struct hx_option *options;    /* ends with HX_OPTIONS_END: what reads `values` */
    const struct hx_yaml_value *values; /* [count]: which option reads which key; texts are not looked at */
    unsigned count;
    const struct hx_option *others; /* ends with HX_OPTIONS_END: keys that no option reads; .name is the path */
};

/* A key of `others`. */
#define HX_YAML_KEY(path, value, words)                                                                                \
    {                                                                                                                  \
        .name = (path), .kind = HX_OPTION_STRING, .argument = (value), .help = (words), .otherwise = ""                \
    }

/* HX_HELP_MARKDOWN or HX_HELP_MAN. */
void hx_yaml_keys_print(const struct hx_yaml_keys *keys, enum hx_help_format format, FILE *out);

#endif
