/* external.h - the part of a fabric file that host/spec_external.h shows. */
#ifndef HXMESH_HOST_YAML_EXTERNAL_H
#define HXMESH_HOST_YAML_EXTERNAL_H

#include "host/spec.h"
#include "host/yaml/load.h"

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

/* Single values of an entry, read as options are. */
struct hx_external_values {
    uint64_t plane, wait_ns, lose_credits;
};
extern const struct hx_external_values hx_external_defaults;

#define HX_LEAST_WAIT 2000000000U /* ns: a cable that is silent is up for as long */
/* clang-format off */
#define HX_EXTERNAL_OPTIONS(v, of_planes) \
    {.name = "external[].plane", .kind = HX_OPTION_NUMBER, .to.number = &(v)->plane, .low = 0, .high = (of_planes) - 1, \
     .help = "other planes of it are not there, unless they have an entry too"}, \
    {.name = "external[].wait", .kind = HX_OPTION_DURATION, .to.number = &(v)->wait_ns, .low = HX_LEAST_WAIT, \
     .high = UINT64_C(86400000000000), .help = "how long it may be away, at the start and later"}, \
    {.name = "external[].lose_credits", .kind = HX_OPTION_NUMBER, .to.number = &(v)->lose_credits, .low = 0, \
     .high = 1000000, .help = "a fault to try: one credit frame in N is not sent to it; 0: none"}
/* All keys of an entry (host/yaml/keys.h). */
#define HX_EXTERNAL_KEYS(v, of_planes) \
    HX_YAML_KEY("external[].at", "[gx, gy]", "which accelerator"), \
    HX_YAML_KEY("external[].ports", "mapping", "its cables; the cable of a port that is not named is out"), \
    HX_YAML_KEY("external[].ports.E", "CABLE", "memif:SOCKET, veth:INTERFACE or tap:INTERFACE"), \
    HX_YAML_KEY("external[].ports.W", "CABLE", "likewise"), HX_YAML_KEY("external[].ports.N", "CABLE", "likewise"), \
    HX_YAML_KEY("external[].ports.S", "CABLE", "likewise"), HX_EXTERNAL_OPTIONS(v, of_planes)
/* clang-format on */

/* Checks all `count` entries into spec->external; the spec's geometry and boards are settled. */
bool hx_external_read(const struct hx_yaml_marks *marks, const struct hx_yaml_external *entries, unsigned count,
                      struct hx_spec *spec, struct hx_problem *problem);

#endif
