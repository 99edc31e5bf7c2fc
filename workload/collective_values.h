/* collective_values.h - contents of vectors before a collective, and expected contents after it.
 *
 * Element e at logical rank r is a(e) * w(r), both drawn from the seed. a(e) is an integer from -255 to 255, not 0; the
 * weight w(r) is at least 1. So each accelerator knows the expected sum, a(e) times the sum of weights, without other
 * vectors. A missing or repeated contribution changes the sum of weights. No sum reaches 2^24, so float32 adds without
 * rounding in any order, and the check is exact. */
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

/* Writes the vector before the collective. An all-gather has only the own pieces; the rest is NaN. */
void collective_values_write(const struct collective_values *v, const struct hx_collective *c, float *vector);

/* Returns the number of wrong bytes in the part that the collective promises to this accelerator. */
uint64_t collective_values_wrong(const struct collective_values *v, const struct hx_collective *c, const float *vector);

#endif
