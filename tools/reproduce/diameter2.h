/* diameter2.h - experiments of the diameter-two study (Kathareios et al., "Cost-Effective Diameter-Two Topologies: Analysis
 * and Evaluation", SC15). */
#ifndef HXMESH_TOOLS_REPRODUCE_DIAMETER2_H
#define HXMESH_TOOLS_REPRODUCE_DIAMETER2_H

#include "tools/reproduce/figure.h"

/* For what is calculated and needs no run. */
void plan_nothing(struct reproduce_plan *p);

void show_scalability(struct reproduce_figure *f); /* figure 3 */
void show_bisection(struct reproduce_figure *f);   /* figure 4 */

#endif
