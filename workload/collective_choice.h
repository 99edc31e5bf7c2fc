/* collective_choice.h - sets a job's algorithm, and chooses the best one by estimates. */
#ifndef COLLECTIVE_CHOICE_H
#define COLLECTIVE_CHOICE_H

#include "workload/collective_loads.h"
#include "workload/collective_plan.h"

/* Sets config.algorithm, dimensions, streams and chunk. Halving and doubling may order hosts anew that are not
 * placed. Requires config.size, kind, bytes, type and window; columns, rows, host and placed of the job. */
void collective_take_algorithm(struct collective_job *job, const struct hx_fabric *g,
                               enum hx_collective_algorithm algorithm);

/* Seconds that a collective takes, by an estimate; INFINITY: the group does not have the algorithm. */
double collective_seconds(const struct collective_job *job, const struct hx_fabric *g,
                          enum hx_collective_algorithm algorithm);

/* As collective_seconds(), with the loads and the timing of `loads`. Adds the bytes of all steps on the links to
 * load[ports]; NULL: not needed. */
double collective_seconds_on(const struct collective_job *job, struct collective_loads *loads,
                             enum hx_collective_algorithm algorithm, double *load);

/* The fastest algorithm by collective_seconds(). A tie takes the first of enum hx_collective_algorithm. */
enum hx_collective_algorithm collective_best(const struct collective_job *job, const struct hx_fabric *g);
/* The same by collective_seconds_on(). */
enum hx_collective_algorithm collective_best_on(const struct collective_job *job, struct collective_loads *loads);

/* Opens loads with the timing that collective_best() has. */
void collective_open_choice(struct collective_loads *loads, const struct hx_fabric *g);

#endif
