/* multidim.h - experiments of Won, Rashidi, Srinivasan, Krishna, "Exploring Multi-dimensional Hierarchical Network
 * Topologies for Efficient Distributed Training of Trillion Parameter DL Models" (arXiv 2109.11762, 2021): three
 * transformers on three networks of 1,024 NPUs, with 100 to 1,000 GB/s an NPU. Plans have no runs (plan_nothing). */
#ifndef HXMESH_TOOLS_REPRODUCE_MULTIDIM_H
#define HXMESH_TOOLS_REPRODUCE_MULTIDIM_H

#include "tools/bandwidth/ways.h"
#include "tools/reproduce/figure.h"

enum { MULTIDIM_NETWORKS = 3, MULTIDIM_JOBS = 3, MULTIDIM_BUDGETS = 10 };

void show_multidim_use(struct reproduce_figure *f);      /* figure 3 */
void show_multidim_rates(struct reproduce_figure *f);    /* figure 10 */
void show_multidim_speed(struct reproduce_figure *f);    /* figure 13 */
void show_multidim_uses(struct reproduce_figure *f);     /* figure 14 */
void show_multidim_per_cost(struct reproduce_figure *f); /* figure 15 */
void show_multidim_best(struct reproduce_figure *f);     /* figure 16 */

/* A job on a network, both by number, with a budget of GB/s. */
struct bandwidth_question multidim_question(unsigned network, unsigned job, double budget);
double multidim_budget(unsigned i); /* 100, 200, ... GB/s */

#endif
