/* cost.c - counts switches, cables and dollars (tools/ways/cost.h). */
#include "tools/ways/cost.h"

struct parts {
    uint64_t switches, edge_cables, tree_cables;
};

/* One plane's networks of one dimension: `groups` board rows (columns) of `lines` lines each. */
static struct parts count(const struct hx_geometry *g, const struct hx_network *n, unsigned groups, unsigned lines)
{
    bool shared = lines * n->ports <= g->radix;
    uint64_t all_lines = (uint64_t)groups * lines;
    return (struct parts){.switches = shared ? groups : all_lines * n->switches,
                          .edge_cables = all_lines * n->ports,
                          .tree_cables = all_lines * n->leaves * n->up};
}

struct hx_cost hx_cost_of(const struct hx_geometry *g)
{
    struct parts row = count(g, &g->row, g->y, g->b);
    struct parts column = count(g, &g->column, g->x, g->a);
    struct hx_cost cost = {.switches = HX_COST_PLANES * (row.switches + column.switches),
                           .dac = HX_COST_PLANES * row.edge_cables,
                           .aoc = HX_COST_PLANES * (column.edge_cables + row.tree_cables + column.tree_cables)};
    cost.usd = cost.switches * HX_SWITCH_USD + cost.dac * HX_DAC_USD + cost.aoc * HX_AOC_USD;
    return cost;
}
