/* hammingmesh.h - how results of the HammingMesh paper's experiments are shown, and figure 15's runs and savings. */
#ifndef HXMESH_TOOLS_REPRODUCE_HAMMINGMESH_H
#define HXMESH_TOOLS_REPRODUCE_HAMMINGMESH_H

#include "tools/reproduce/figure.h"

void show_table2(struct reproduce_figure *f);
void show_job_sizes(struct reproduce_figure *f);     /* figure 7 */
void show_utilization(struct reproduce_figure *f);   /* figure 8 */
void show_upper_traffic(struct reproduce_figure *f); /* figure 9 */
void show_failed_boards(struct reproduce_figure *f); /* figure 10 */
void show_fig11(struct reproduce_figure *f);
void show_fig12(struct reproduce_figure *f);
void show_all_reduce(struct reproduce_figure *f); /* figures 13 and 17 */
void show_fig15(struct reproduce_figure *f);

/* Fabrics of figure 15 in its order, then the two HammingMeshes. */
enum sc22_fabric {
    SC22_TREE,
    SC22_HALF_TREE,    /* 50 % tapered */
    SC22_QUARTER_TREE, /* 75 % tapered */
    SC22_DRAGONFLY,
    SC22_HYPERX,
    SC22_TORUS,
    SC22_HX2,
    SC22_HX4,
    SC22_FABRICS
};

/* Run `job * SC22_FABRICS + fabric` of the plan is that of a job on a fabric. */
void plan_fig15(struct reproduce_plan *p);

/* Cost savings of a HammingMesh against another fabric: ratio of the costs of table II, times the ratio of the
 * overheads, time over computing less one. Times in ms. */
double sc22_saving(enum sc22_fabric own, double own_ms, enum sc22_fabric other, double other_ms, double computing_ms);

#endif
