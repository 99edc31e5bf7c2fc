/* topoopt.h - how results of TopoOpt's experiments (Wang et al., NSDI 2023) are found and shown. */
#ifndef HXMESH_TOOLS_REPRODUCE_TOPOOPT_H
#define HXMESH_TOOLS_REPRODUCE_TOPOOPT_H

#include "tools/reproduce/figure.h"

void show_topoopt_cost(struct reproduce_figure *f);        /* figure 10 */
void show_topoopt_times_4(struct reproduce_figure *f);     /* figure 11 */
void show_topoopt_batch(struct reproduce_figure *f);       /* figure 12 */
void show_topoopt_tax(struct reproduce_figure *f);         /* figure 13 */
void show_topoopt_paths(struct reproduce_figure *f);       /* figure 14 */
void show_topoopt_loads(struct reproduce_figure *f);       /* figure 15 */
void show_topoopt_cluster(struct reproduce_figure *f);     /* figure 16 */
void show_topoopt_reconfigure(struct reproduce_figure *f); /* figure 17 */
void show_topoopt_times_8(struct reproduce_figure *f);     /* figure 27 */
void show_topoopt_degree(struct reproduce_figure *f);      /* figure 28 */

#endif
