/* collective_values.h - what vectors hold before a collective, and what they must hold after it.
 *
 * Element e of the accelerator with logical rank r is a(e) * w(r), both drawn by the seed: a whole number from -255 to
 * 255, not 0, and a weight from 1 up. So every accelerator knows the sum of all, a(e) times the sum of weights, without
 * the others' vectors; a contribution that is missing, or comes twice, is a weight too few or too many. Weights are so
 * small that no sum reaches 2^24: float32 adds such numbers without rounding, in any order, and the check allows
 * none. */
#ifndef COLLECTIVE_VALUES_H
#define COLLECTIVE_VALUES_H

#include "workload/collective_plan.h"

struct collective_values {
    enum hx_collective_kind kind;
    uint64_t seed;
    uint32_t ranks, root;
    uint32_t most_weight;
    uint64_t weights; /* sum over all ranks */
};

struct collective_values collective_values_of(const struct collective_plan *p, const struct collective_job *job);

/* Before: own values. Of an all-gather the own pieces alone; the rest is not a number. */
void collective_values_write(const struct collective_values *v, const struct hx_collective *c, float *vector);

/* After: bytes that are wrong, of what the collective promises to this accelerator. */
uint64_t collective_values_wrong(const struct collective_values *v, const struct hx_collective *c, const float *vector);

#endif
