/* yaml_load.h - libcyaml with our error lines: schema in, data or one problem with file, line and column out. */
#ifndef HXMESH_HOST_YAML_LOAD_H
#define HXMESH_HOST_YAML_LOAD_H

#include "host/error.h"
#include "host/yaml_marks.h"

#include <cyaml/cyaml.h>

/* Loads by `schema`, whose top is a mapping by pointer, into *data, which hx_yaml_unload frees. */
bool hx_yaml_load(const struct hx_yaml_marks *marks, const uint8_t *text, size_t bytes,
                  const cyaml_schema_value_t *schema, void **data, struct hx_problem *problem);
void hx_yaml_unload(const cyaml_schema_value_t *schema, void *data);

#endif
