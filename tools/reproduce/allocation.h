/* allocation.h - figures 7 to 10 of the HammingMesh paper (job mixes on boards), and interference between jobs. Their
 * plans have no runs (plan_nothing). */
#ifndef HXMESH_TOOLS_REPRODUCE_ALLOCATION_H
#define HXMESH_TOOLS_REPRODUCE_ALLOCATION_H

#include "tools/reproduce/figure.h"

void show_job_sizes(struct reproduce_figure *f);
void show_utilization(struct reproduce_figure *f);
void show_upper_traffic(struct reproduce_figure *f);
void show_failed_boards(struct reproduce_figure *f);
void show_interference(struct reproduce_figure *f);

#endif
