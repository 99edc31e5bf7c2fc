/* eflops.h - experiments of EFLOPS (Dong et al., "EFLOPS: Algorithm and System Co-Design for a High Performance
 * Distributed Training Platform", HPCA 2020): all-reduce on BiGraphs and fat trees of 100 Gb/s links. */
#ifndef HXMESH_TOOLS_REPRODUCE_EFLOPS_H
#define HXMESH_TOOLS_REPRODUCE_EFLOPS_H

#include "tools/reproduce/figure.h"

void plan_eflops_fig12(struct reproduce_plan *p);
void plan_eflops_fig16(struct reproduce_plan *p);
void show_eflops_fig12(struct reproduce_figure *f);
void show_eflops_fig16(struct reproduce_figure *f);

/* Steps of an all-reduce of n hosts by "ring" or "halving", one after the other; n is a power of two. */
unsigned eflops_steps(const char *algorithm, unsigned n);

#endif
