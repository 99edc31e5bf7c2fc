/* rules.h - the options by which boards are found for jobs. */
#ifndef HXMESH_TOOLS_ALLOCATE_RULES_H
#define HXMESH_TOOLS_ALLOCATE_RULES_H

#include "host/allocate/placement.h"
#include "host/spec.h"

/* Options' own types, until allocate_rules_settle(). */
struct allocate_rules {
    struct hx_placement_rules placement;
    uint64_t aspect, search;
};
extern const struct allocate_rules allocate_default_rules;

/* Entries of an option table. */
/* clang-format off */
#define ALLOCATE_RULE_OPTIONS(r) \
    {.name = "transpose", .kind = HX_OPTION_FLAG, .negatable = true, .to.flag = &(r)->placement.transpose, \
     .help = "a job may have its columns and rows exchanged"}, \
    {.name = "aspect", .kind = HX_OPTION_NUMBER, .to.number = &(r)->aspect, .low = 1, .high = HX_MOST_BOARDS_ACROSS, \
     .help = "a job may have another shape of as many boards, up to so many times as long as wide; 1: it may not"}, \
    {.name = "search", .kind = HX_OPTION_NUMBER, .argument = "ROWS", .to.number = &(r)->search, .low = 0, .high = UINT32_MAX, \
     .help = "where the greedy rule finds no room, try other sets of rows, up to so many rows looked at for a shape; 0: do not"}, \
    {.name = "locality", .kind = HX_OPTION_CHOICE, .argument = "TRAFFIC", .to.choice = &(r)->placement.locality, \
     .choices = hx_locality_names, \
     .help = "of all that fits, take the boards where this traffic crosses the upper level of the row and column networks least"}
/* clang-format on */

/* What was said, for a fabric; dies of one that is no HammingMesh. */
void allocate_rules_settle(struct allocate_rules *r, const struct hx_spec *spec);

#endif
