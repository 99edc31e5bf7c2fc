/* sc22.h - figure 15 of the HammingMesh paper (Hoefler et al., SC22) and section V-B: iteration times of five training
 * jobs on eight fabrics. */
#ifndef HXMESH_TOOLS_REPRODUCE_SC22_H
#define HXMESH_TOOLS_REPRODUCE_SC22_H

#include "tools/reproduce/figure.h"

/* The fabrics in the order of figure 15, then the two HammingMeshes. */
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
void show_fig15(struct reproduce_figure *f);

/* Cost savings of a HammingMesh against another fabric: ratio of the costs of table II, times the ratio of the
 * overheads, time over computing less one. Times in ms. */
double sc22_saving(enum sc22_fabric own, double own_ms, enum sc22_fabric other, double other_ms, double computing_ms);

#endif
