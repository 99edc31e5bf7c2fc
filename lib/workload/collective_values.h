/* collective_values.h - contents of vectors before a collective, and expected contents after it.
 *
 * Of a sum, element e at position r is a(e) * w(r), both drawn from the seed: a(e) is an integer, not 0, and the weight
 * w(r) is at least 1. So each rank knows the expected sum, a(e) times the sum of weights, without other vectors. A
 * missing or repeated contribution changes the sum of weights. Sums are exact in every type: they stay below what a
 * float has digits for; integers wrap. In types of few digits, with many ranks, most weights are 0.
 *
 * Of a maximum or minimum, element e at position r is a(e) + w(r): the result is a(e) plus the largest or least weight.
 * Other collectives move a value of its element and sender. */
#ifndef COLLECTIVE_VALUES_H
#define COLLECTIVE_VALUES_H

#include "workload/collective_jobs.h"

struct collective_values {
    const struct collective_job *job;
    uint64_t seed;
    uint32_t most_element, most_weight;
    int64_t weights; /* sum, largest or least over all ranks */
};

struct collective_values collective_values_of(const struct collective_plan *p, const struct collective_job *job);

/* Writes the vector before the collective. */
void collective_values_write(const struct collective_values *v, const struct hx_collective_config *config,
                             uint8_t *vector);
/* Of an all-gather or a gather, overwrites all but the own pieces. */
void collective_values_keep_pieces(const struct collective_values *v, const struct hx_collective *c, uint8_t *vector);

/* Returns the number of wrong bytes in the part that the collective promises to this rank. result: the vector; of an
 * all-to-all, staging. */
uint64_t collective_values_wrong(const struct collective_values *v, const struct hx_collective *c,
                                 const uint8_t *result);

#endif
