/* blossoms.h - a matching of maximum weight in a general graph (Edmonds' blossoms, primal-dual, O(n^3)). */
#ifndef HXMESH_TOOLS_CIRCUITS_BLOSSOMS_H
#define HXMESH_TOOLS_CIRCUITS_BLOSSOMS_H

#include <stdbool.h>
#include <stdint.h>

enum { MATCHING_MOST_NODES = 1024, MATCHING_ALONE = UINT32_MAX };
#define MATCHING_MOST_WEIGHT (INT64_C(1) << 50)

struct matching;

/* weight[n * n]: symmetric, 0 .. MATCHING_MOST_WEIGHT; 0: no edge. Deterministic. Free the result with
 * matching_free(). */
struct matching *matching_find(uint32_t n, const int64_t *weight);
void matching_free(struct matching *m);

/* The node matched with a node; MATCHING_ALONE. */
uint32_t matching_mate(const struct matching *m, uint32_t node);
int64_t matching_weight(const struct matching *m); /* sum over matched pairs */

/* Checks the dual solution that the search ended with, for these weights: it is feasible, and its value is the weight.
 * By linear programming duality no matching weighs more. */
bool matching_is_proved(const struct matching *m, const int64_t *weight);

#endif
