/* rules.c - from options to rules (rules.h). */
#include "tools/allocate/rules.h"

const struct allocate_rules allocate_default_rules = {
    .placement = {.transpose = true}, .aspect = HX_DEFAULT_ASPECT, .search = HX_DEFAULT_SEARCH};

const char *allocate_rules_said(const struct allocate_rules *r)
{
    static const char *const options[] = {"--transpose", "--aspect", "--search", "--locality"};
    return r->given ? options[__builtin_ctz(r->given)] : NULL;
}

void allocate_rules_settle(struct allocate_rules *r, const struct hx_spec *spec)
{
    struct hx_geometry g = hx_spec_mesh(spec, "allocating boards");
    r->placement.aspect = (unsigned)r->aspect;
    r->placement.search = (uint32_t)r->search;
    /* A board has two ports next to each other on each of its networks. */
    r->placement.leaf[0] = g.row.spines ? g.row.down / 2U : 0;
    r->placement.leaf[1] = g.column.spines ? g.column.down / 2U : 0;
}
