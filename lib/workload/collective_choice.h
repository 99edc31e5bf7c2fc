/* collective_choice.h - sets a job's algorithm, and chooses the best one by estimates. */
#ifndef COLLECTIVE_CHOICE_H
#define COLLECTIVE_CHOICE_H

#include "workload/collective_jobs.h"
#include "workload/collective_loads.h"

/* Sets config.algorithm, dimensions, stripes, root and chunk. Halving and doubling may order hosts anew that are not
 * placed; rings and chains keep the given order. Requires config.size, kind, bytes, type and window; columns, rows,
 * host, given, placed and root_host of the job. */
void collective_take_algorithm(struct collective_job *job, const struct hx_fabric *g,
                               enum hx_collective_algorithm algorithm);

/* The position of a host; 0: it is not in the group. */
uint32_t collective_position_of(const struct collective_job *job, uint32_t host);

/* Seconds that a collective takes, by an estimate; INFINITY: the group does not have the algorithm. */
double collective_seconds(const struct collective_job *job, const struct hx_fabric *g,
                          enum hx_collective_algorithm algorithm);

/* As collective_seconds(), with the loads and the timing of `loads`. Adds the bytes of all steps on the links, as if
 * all rings of a phase had as many steps as the longest, to load[ports]; NULL: not needed. */
double collective_seconds_on(const struct collective_job *job, struct collective_loads *loads,
                             enum hx_collective_algorithm algorithm, double *load);

/* The same; it may stop as soon as the time is above `limit` seconds. */
double collective_seconds_below(const struct collective_job *job, struct collective_loads *loads,
                                enum hx_collective_algorithm algorithm, double limit, double *load);

/* Adds the bytes that a collective by its own algorithm puts on the links to load[ports]. */
void collective_lay(const struct collective_job *job, struct collective_loads *loads, double *load);

/* The same for a job as it is, with all of its configuration. */
void collective_lay_as(const struct collective_job *job, struct collective_loads *loads, double *load);

/* A copy of a job, with hosts of its own that the caller frees, by an algorithm. */
struct collective_job collective_job_by(const struct collective_job *job, const struct hx_fabric *g,
                                        enum hx_collective_algorithm algorithm);

/* The fastest algorithm for some groups of equal size that begin at once, one a job (collective_best.c). */
enum hx_collective_algorithm collective_best_on(const struct collective_job *job, uint32_t jobs,
                                                struct collective_loads *loads);
/* The same for one group. */
enum hx_collective_algorithm collective_best(const struct collective_job *job, const struct hx_fabric *g);

/* Opens loads with the timing that collective_best() has. */
void collective_open_choice(struct collective_loads *loads, const struct hx_fabric *g);

#endif
