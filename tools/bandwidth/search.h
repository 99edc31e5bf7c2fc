/* search.h - rates with the least value of a model, such as the time of an iteration: a search over divisions of a
 * budget. */
#ifndef HXMESH_TOOLS_BANDWIDTH_SEARCH_H
#define HXMESH_TOOLS_BANDWIDTH_SEARCH_H

/* Returns the value of these rates, or INFINITY. */
typedef double bandwidth_model(void *of, const double *rate);

/* Improves rate[] and keeps its sum, until no step is better or `runs` values were asked for (0: any number). A step
 * multiplies or divides the rates of some dimensions by a factor, and then scales all to the sum: such steps go along
 * the lines on which two dimensions take equally long. The factor falls from `first` to `last`. Returns the value,
 * which is never above that at the start. Deterministic. */
double bandwidth_search(unsigned dimensions, double *rate, bandwidth_model *model, void *of, unsigned runs,
                        double first, double last);

#endif
