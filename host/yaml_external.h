/* yaml_external.h - the part of a fabric file that host/spec_external.h shows. */
#ifndef HXMESH_HOST_YAML_EXTERNAL_H
#define HXMESH_HOST_YAML_EXTERNAL_H

#include "host/spec.h"
#include "host/yaml_load.h"

/* One entry as libcyaml fills it. */
struct hx_yaml_cables {
    char *e, *w, *n, *s;
};
struct hx_yaml_external {
    uint32_t at[2]; /* gx, gy */
    struct hx_yaml_cables ports;
    char *plane, *wait, *lose_credits;
};
extern const cyaml_schema_value_t hx_yaml_external_schema;

/* Checks all `count` entries into spec->external; the spec's geometry and boards are settled. */
bool hx_external_read(const struct hx_yaml_marks *marks, const struct hx_yaml_external *entries, unsigned count,
                      struct hx_spec *spec, struct hx_problem *problem);

#endif
