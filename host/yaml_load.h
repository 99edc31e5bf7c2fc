/* yaml_load.h - libcyaml with our error lines: schema in, data or one problem with file, line and column out. */
#ifndef HXMESH_HOST_YAML_LOAD_H
#define HXMESH_HOST_YAML_LOAD_H

#include "host/error.h"
#include "host/yaml_marks.h"

#include <cyaml/cyaml.h>

/* The bytes of a file, at most 1 MiB, in *text, which is to be freed. */
bool hx_yaml_read_file(const char *path, uint8_t **text, size_t *bytes, struct hx_problem *problem);

/* Loads by `schema`, whose top is a mapping by pointer, into *data, which hx_yaml_unload frees. */
bool hx_yaml_load(const struct hx_yaml_marks *marks, const uint8_t *text, size_t bytes,
                  const cyaml_schema_value_t *schema, void **data, struct hx_problem *problem);
void hx_yaml_unload(const cyaml_schema_value_t *schema, void *data);

#endif
