/* rules.h - options that choose how jobs get boards, or hosts on other fabrics. */
#ifndef HXMESH_TOOLS_ALLOCATE_RULES_H
#define HXMESH_TOOLS_ALLOCATE_RULES_H

#include "allocation/hosts.h"
#include "allocation/placement.h"
#include "spec/spec.h"

/* Values as the option parser stores them, until allocate_rules_settle(). */
struct allocate_rules {
    struct hx_placement_rules placement;
    uint64_t aspect, search;
    unsigned place; /* enum hx_hosts_rule */
    uint64_t given; /* enum allocate_rule bits of the options given */
};
enum allocate_rule {
    ALLOCATE_TRANSPOSE = 1 << 0,
    ALLOCATE_ASPECT = 1 << 1,
    ALLOCATE_SEARCH = 1 << 2,
    ALLOCATE_LOCALITY = 1 << 3,
    ALLOCATE_PLACE = 1 << 4
};
extern const struct allocate_rules allocate_default_rules;

/* Entries of an option table. */
/* clang-format off */
#define ALLOCATE_RULE_OPTIONS(r) \
    {.name = "transpose", .kind = HX_OPTION_FLAG, .negatable = true, .to.flag = &(r)->placement.transpose, \
     .help = "a job may have its columns and rows exchanged", HX_GIVEN_IN(r, ALLOCATE_TRANSPOSE)}, \
    {.name = "aspect", .kind = HX_OPTION_NUMBER, .to.number = &(r)->aspect, .low = 1, .high = HX_MOST_BOARDS_ACROSS, \
     .help = "a job may have another shape of as many boards, up to so many times as long as wide; 1: it may not", \
     HX_GIVEN_IN(r, ALLOCATE_ASPECT)}, \
    {.name = "search", .kind = HX_OPTION_NUMBER, .argument = "ROWS", .to.number = &(r)->search, .low = 0, \
     .high = UINT32_MAX, .help = "where the greedy rule finds no room, try other sets of rows, up to so many rows " \
     "looked at for a shape; 0: do not", HX_GIVEN_IN(r, ALLOCATE_SEARCH)}, \
    {.name = "locality", .kind = HX_OPTION_CHOICE, .argument = "TRAFFIC", .to.choice = &(r)->placement.locality, \
     .choices = hx_locality_names, .help = "of all that fits, take the boards where this traffic crosses the upper " \
     "level of the row and column networks least", HX_GIVEN_IN(r, ALLOCATE_LOCALITY)}
#define ALLOCATE_PLACE_OPTION(r) \
    {.name = "place", .kind = HX_OPTION_CHOICE, .argument = "HOW", .to.choice = &(r)->place, \
     .choices = hx_hosts_rule_names, .help = "of another fabric than a HammingMesh: how hosts are found for a job", \
     HX_GIVEN_IN(r, ALLOCATE_PLACE)}
/* Options for random jobs: size distribution, seed, and a file with one line for each `each`. */
#define ALLOCATE_SIZES_OPTION(path) \
    {.name = "sizes", .kind = HX_OPTION_STRING, .argument = "FILE", .to.string = (path), \
     .otherwise = "the paper's, of an Alibaba cluster", \
     .help = "how large jobs are: job_size,perc_jobs_lte, boards and per cent of the jobs that have no more"}
#define ALLOCATE_SEED_OPTION(seed, said, bit, of_what) \
    {.name = "seed", .kind = HX_OPTION_NUMBER, .to.number = (seed), .low = 0, .high = HX_MOST_SEED, \
     .given = (said), .given_bit = (bit), .help = (of_what)}
#define ALLOCATE_CSV_OPTION(path, each) \
    {.name = "csv", .kind = HX_OPTION_STRING, .argument = "FILE", .to.string = (path), \
     .help = "write a line for each " each " to FILE; - is stdout"}
/* clang-format on */

/* Dies if options for boards are given for a fabric without boards, or --place for one with boards. `of_boards`:
 * another given option that is for boards, or NULL. */
void allocate_rules_check(const struct allocate_rules *r, const struct hx_spec *spec, const char *of_boards);

/* Completes the rules for a HammingMesh; dies for any other fabric. */
void allocate_rules_settle(struct allocate_rules *r, const struct hx_spec *spec);

#endif
