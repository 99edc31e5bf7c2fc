/* values.h - single values of a YAML file that are read by the option of the same name, and the mapping `traffic`
 * that fabric files and node files both have. */
#ifndef HXMESH_HOST_YAML_VALUES_H
#define HXMESH_HOST_YAML_VALUES_H

#include "host/options/applies.h"
#include "host/yaml/load.h"

struct hx_yaml_value {
    const char *option, *path, *text; /* text NULL: not in the file */
};

/* Reads each value that is there; `options` ends with HX_OPTIONS_END and has all that are named. */
bool hx_yaml_apply(const struct hx_yaml_marks *marks, const struct hx_option *options,
                   const struct hx_yaml_value *values, unsigned count, struct hx_problem *problem);

/* False if one that is there is not for such a run (host/options/applies.h): the problem names its key. */
bool hx_yaml_check(const struct hx_yaml_marks *marks, const struct hx_option *options,
                   const struct hx_yaml_value *values, unsigned count, uint64_t run, struct hx_problem *problem);

struct hx_yaml_traffic {
    char *pattern, *algorithm, *message, *count, *shifts, *duration, *rate, *seed, *verify, *target, *hotspot, *warm_up;
};
extern const cyaml_schema_field_t hx_yaml_traffic_fields[];

/* Its values; `t` is not NULL. */
/* clang-format off */
#define HX_YAML_TRAFFIC_VALUES(t) \
    {"traffic", "traffic.pattern", (t)->pattern}, {"algorithm", "traffic.algorithm", (t)->algorithm}, \
    {"message", "traffic.message", (t)->message}, \
    {"count", "traffic.count", (t)->count}, {"shifts", "traffic.shifts", (t)->shifts}, {"duration", "traffic.duration", (t)->duration}, \
    {"rate", "traffic.rate", (t)->rate}, {"seed", "traffic.seed", (t)->seed}, \
    {"verify", "traffic.verify", (t)->verify}, {"target", "traffic.target", (t)->target}, \
    {"hotspot", "traffic.hotspot", (t)->hotspot}, \
    {"warm-up", "traffic.warm_up", (t)->warm_up}
/* clang-format on */

/* A text that may be missing. */
#define HX_YAML_TEXT(key, in, member)                                                                                  \
    CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, in, member, 0, HX_YAML_LONGEST_VALUE)
enum { HX_YAML_LONGEST_VALUE = 255 };

#endif
