/* collective_choice.h - chooses the best algorithm for a collective, by closed forms (spec/collective_model.h). */
#ifndef COLLECTIVE_CHOICE_H
#define COLLECTIVE_CHOICE_H

#include "workload/collective_plan.h"

/* Configuration of a job's collective for place 0 of the grid. Addresses in it are places on the grid; the platform
 * maps them to hosts. */
struct hx_collective_config collective_config_of(const struct collective_job *job);

bool collective_has_two_rings(const struct collective_job *job);

/* The fastest algorithm for the job's kind, vector and grid, with the fabric's links and default timing. A tie takes
 * the first of: two rings, torus, ring, tree. */
enum hx_collective_algorithm collective_best(const struct collective_job *job, const struct hx_fabric *g);

#endif
