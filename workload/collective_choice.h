/* collective_choice.h - which algorithm is best for a collective, by closed forms (spec/collective_model.h). */
#ifndef COLLECTIVE_CHOICE_H
#define COLLECTIVE_CHOICE_H

#include "workload/collective_plan.h"

/* What any accelerator of a job is told, at place 0 of the grid. Places on the grid stand for addresses: the platform
 * knows whose they are. */
struct hx_collective_config collective_config_of(const struct collective_job *job);

/* Whether its grid has two rings without a common edge. */
bool collective_has_two_rings(const struct collective_job *job);

/* The one of the least time for its kind, vector and grid, by the latencies, the rates and the links of that fabric,
 * where the virtual clock is told nothing else. Of equals the first of: two rings, torus, ring, tree. */
enum hx_collective_algorithm collective_best(const struct collective_job *job, const struct hx_fabric *g);

#endif
