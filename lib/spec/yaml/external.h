/* external.h - reads the part of a fabric file that spec/spec_external.h describes. */
#ifndef HXMESH_SPEC_YAML_EXTERNAL_H
#define HXMESH_SPEC_YAML_EXTERNAL_H

#include "base/yaml/keys.h"
#include "spec/spec.h"

struct hx_external_values {
    uint64_t plane, wait_ns, lose_credits, harts;
    const char *key;                  /* NULL: none */
    unsigned node;                    /* enum hx_external_node */
    const char *port[HX_CABLE_PORTS]; /* NULL: no cable */
};
extern const struct hx_external_values hx_external_defaults;

#define HX_LEAST_WAIT 2000000000U /* ns: a silent cable counts as up for that long */
/* clang-format off */
#define HX_EXTERNAL_OPTIONS(v, of_planes) \
    {.key = "external[].plane", .kind = HX_OPTION_NUMBER, .to.number = &(v)->plane, .low = 0, .high = (of_planes) - 1, \
     .help = "other planes of it are not there, unless they have an entry too"}, \
    {.key = "external[].wait", .kind = HX_OPTION_DURATION, .to.number = &(v)->wait_ns, .low = HX_LEAST_WAIT, \
     .high = UINT64_C(86400000000000), .help = "how long it may be away, at the start and later"}, \
    {.key = "external[].lose_credits", .kind = HX_OPTION_NUMBER, .to.number = &(v)->lose_credits, .low = 0, \
     .high = 1000000, .help = "a fault to try: one credit frame in N is not sent to it; 0: none"}, \
    {.key = "external[].key", .kind = HX_OPTION_STRING, .argument = "FILE", .to.string = &(v)->key, \
     .help = "its cables are authenticated: 128 bits in hex, in a file that only its user may read (0600)"}, \
    {.key = "external[].node", .kind = HX_OPTION_CHOICE, .to.choice = &(v)->node, .choices = hx_external_nodes, \
     .help = "elsewhere: started by other means; qemu: this program starts an image in QEMU (docs/bare-metal.md)"}, \
    {.key = "external[].harts", .kind = HX_OPTION_NUMBER, .to.number = &(v)->harts, .low = 1, \
     .high = 1 + HX_CABLE_PORTS, \
     .help = "of an image in QEMU: how many share its work; the first has switch and endpoint, the others cables " \
     "in turn"}, \
    HX_CABLE_KEY(v, "E", HX_E, "memif:SOCKET, veth:INTERFACE or " \
    "tap:INTERFACE"), HX_CABLE_KEY(v, "W", HX_W, "likewise"), \
    HX_CABLE_KEY(v, "N", HX_N, "likewise"), HX_CABLE_KEY(v, "S", HX_S, "likewise")
#define HX_CABLE_KEY(v, letter, place, words) \
    {.key = "external[].ports." letter, .kind = HX_OPTION_STRING, .argument = "CABLE", .to.string = &(v)->port[place], \
     .help = (words)}
#define HX_EXTERNAL_GROUPS \
    {.key = "external", .holds = HX_YAML_ENTRIES, .argument = "list", \
     .help = "accelerators that run elsewhere (wall clock)"}, \
    {.key = "external[].at", .holds = HX_YAML_PAIR, .required = true, .argument = "[gx, gy]", \
     .help = "which accelerator"}, \
    {.key = "external[].ports", .holds = HX_YAML_KEYS, .argument = "mapping", \
     .help = "its cables, which a node elsewhere must have; the cable of a port that is not named is out"}
/* clang-format on */

/* Reads all entries of the file into spec->external. Call when the spec's geometry and boards are known. Returns false
 * on an error. */
bool hx_external_read(const struct hx_yaml *y, struct hx_spec *spec, struct hx_problem *problem);

#endif
