/* multidim.h - the networks and jobs of Won et al., 2021, by number. */
#ifndef HXMESH_TOOLS_REPRODUCE_MULTIDIM_H
#define HXMESH_TOOLS_REPRODUCE_MULTIDIM_H

#include "tools/bandwidth/ways.h"

enum { MULTIDIM_NETWORKS = 3, MULTIDIM_JOBS = 3, MULTIDIM_BUDGETS = 10 };

/* A job on a network with a budget of GB/s. */
struct bandwidth_question multidim_question(unsigned network, unsigned job, double budget);
double multidim_budget(unsigned i); /* 100, 200, ... GB/s */

#endif
