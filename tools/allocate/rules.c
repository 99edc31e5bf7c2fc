/* rules.c - turns options into placement rules (rules.h). */
#include "tools/allocate/rules.h"
#include "base/error.h"

const struct allocate_rules allocate_default_rules = {
    .placement = {.transpose = true}, .aspect = HX_DEFAULT_ASPECT, .search = HX_DEFAULT_SEARCH};

void allocate_rules_check(const struct allocate_rules *r, const struct hx_spec *spec, const char *of_boards)
{
    static const char *const options[] = {"--transpose", "--aspect", "--search", "--locality"};
    uint64_t said = r->given & ~(uint64_t)ALLOCATE_PLACE;
    if (!of_boards && said)
        of_boards = options[__builtin_ctzll(said)];
    if (!spec->a && of_boards)
        hx_die(HX_EXIT_USAGE, of_boards, "is for boards of a HammingMesh: hosts of another fabric have --place");
    if (spec->a && r->given & ALLOCATE_PLACE)
        hx_die(HX_EXIT_USAGE, "--place", "is for hosts of another fabric than a HammingMesh");
}

void allocate_rules_settle(struct allocate_rules *r, const struct hx_spec *spec)
{
    struct hx_geometry g = hx_spec_mesh(spec, "allocating boards");
    r->placement.aspect = (unsigned)r->aspect;
    r->placement.search = (uint32_t)r->search;
    /* A board has two adjacent ports on each of its networks. */
    r->placement.leaf[0] = g.row.spines ? g.row.down / 2U : 0;
    r->placement.leaf[1] = g.column.spines ? g.column.down / 2U : 0;
}
