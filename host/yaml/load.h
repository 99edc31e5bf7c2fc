/* load.h - libcyaml with our error lines: schema in, data or one problem with file, line and column out. */
#ifndef HXMESH_HOST_YAML_LOAD_H
#define HXMESH_HOST_YAML_LOAD_H

#include "host/error.h"
#include "host/yaml/marks.h"

#include <cyaml/cyaml.h>

struct hx_yaml_document {
    struct hx_yaml_marks marks; /* of the file as it was named; the name is not copied */
    const cyaml_schema_value_t *schema;
    void *data; /* as the schema says */
};

/* Reads a file of at most 1 MiB by `schema`, whose top is a mapping by pointer. On failure there is nothing to close. */
bool hx_yaml_open(struct hx_yaml_document *d, const char *path, const cyaml_schema_value_t *schema,
                  struct hx_problem *problem);
/* The same for a file that may have a single value at `key`, a mapping otherwise: then it is read by `short_schema`. */
bool hx_yaml_open_either(struct hx_yaml_document *d, const char *path, const cyaml_schema_value_t *schema,
                         const char *key, const cyaml_schema_value_t *short_schema, struct hx_problem *problem);
/* Frees the data too; nothing is done to a document of zeros. */
void hx_yaml_close(struct hx_yaml_document *d);

#endif
