/* paper.c - values of the paper (tools/reproduce/paper.h). */
#include "tools/reproduce/paper.h"
#include "spec/collective_model.h"
#include "spec/spec.h"
#include "spec/timing.h"
#include "topology/bill.h"

#include <math.h>
#include <string.h>

static const struct paper_figures table2[] = {
    {"16x16 Hx2Mesh", "Hx2Mesh", 25.4, 98.3, 21.1253, 5.4, NULL},
    {"8x8 Hx4Mesh", "Hx4Mesh", 11.3, 98.4, 48.7538, 2.7, NULL},
    {"32x32 Hx1Mesh", "Hx1Mesh", NAN, NAN, NAN, 10.8, NULL},
    {"64x64 Hx2Mesh", "Hx2Mesh", NAN, 92.3, NAN, 224, NULL},
    {"32x32 Hx4Mesh", "Hx4Mesh", NAN, 92.2, NAN, 43.3, NULL},
    {"fat-tree hosts=1024", "fat tree", 99.9, 98.9, NAN, 25.3, NULL},
    {PAPER_HALF_TREE, "50 % tree", 51.2, 98.9, NAN, 17.6, "fat-tree hosts=1024 down=42 up=22"},
    {PAPER_QUARTER_TREE, "75 % tree", 25.7, 98.9, NAN, 13.2, "fat-tree hosts=1024 down=51 up=13"},
    {PAPER_DRAGONFLY, "Dragonfly", 62.9, 98.8, NAN, 27.9, NULL},
    {"hyperx 32x32 p=1", "HyperX", 91.6, 98.1, NAN, NAN, NULL},
    {PAPER_TORUS, "torus", 2.0, 98.1, NAN, 2.5, NULL},
    {PAPER_LARGE_TREE, "fat tree", 98.9, 99.8, NAN, 680, NULL},
    {PAPER_LARGE_HALF_TREE, "50 % tree", 47.6, 99.8, NAN, 419, "fat-tree hosts=16384 down=42 up=22"},
    {PAPER_LARGE_QUARTER_TREE, "75 % tree", 24.0, 99.8, NAN, 271, "fat-tree hosts=16384 down=51 up=13"},
    {PAPER_LARGE_DRAGONFLY, "Dragonfly", 71.5, 98.6, NAN, 429, NULL},
    {PAPER_LARGE_HYPERX, "Hx1Mesh", NAN, NAN, NAN, 448, NULL},
    {PAPER_LARGE_TORUS, "torus", 1.1, 91.4, NAN, 39.5, NULL},
    {NULL, NULL, NAN, NAN, NAN, NAN, NULL}};

const struct paper_figures *paper_figures_of(const char *fabric)
{
    const struct paper_figures *row = table2;
    while (row->fabric && strcmp(row->fabric, fabric) != 0)
        row++;
    return row;
}

double paper_bought_musd(const char *fabric)
{
    const char *bought = paper_figures_of(fabric)->bought;
    struct hx_spec spec;
    hx_spec_load(bought ? bought : fabric, NULL, &spec);
    double cost = (double)hx_fabric_bill(spec.graph, &hx_default_prices, HX_LINK_GBPS).usd / 1e6;
    hx_spec_free(&spec);
    return cost;
}

bool paper_own(const char *fabric)
{
    struct hx_problem problem;
    return hx_topology_of(fabric, &problem) == hx_topologies[0];
}

const char *paper_brief(const char *fabric)
{
    const char *brief = paper_figures_of(fabric)->brief;
    return brief ? brief : fabric;
}

/* Mean latency to the next accelerator: of a such links, a - 1 are on the board and one crosses a network. */
static double neighbour_latency(const struct hx_geometry *g, const struct hx_timing *t)
{
    double cables = g->row.spines ? 4 : 2;
    return ((g->a - 1.0) * hx_model_latency(t, 1, t->trace) + hx_model_latency(t, cables, t->cable)) / g->a;
}

double paper_all_reduce_share(const char *fabric, const char *algorithm, uint64_t bytes)
{
    static const char *const names[] = {
        [HX_BY_TREE] = "tree", [HX_BY_RING] = "ring", [HX_BY_RINGS] = "rings", [HX_BY_TORUS] = "torus"};
    struct hx_spec spec;
    hx_spec_load(fabric, NULL, &spec);
    const struct hx_geometry g = spec.graph->mesh;
    hx_spec_free(&spec);
    if (g.nodes == 0)
        return NAN;
    const struct hx_timing table3 = HX_DEFAULT_TIMING;
    struct hx_timing timing = hx_timing_complete(&table3);
    struct hx_collective_model model = {.kind = HX_ALL_REDUCE,
                                        .columns = g.columns,
                                        .rows = g.rows,
                                        .bytes = (double)bytes,
                                        .alpha = neighbour_latency(&g, &timing),
                                        .link_rate = (double)timing.link * 1e9 / 8};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], algorithm) == 0)
            model.algorithm = (enum hx_collective_algorithm)i;
    return hx_model_share(&model);
}
