/* pipeline.h - the order of passes at a pipeline stage.
 *
 *     GPipe        all forward passes, then all backward passes in the opposite order (Huang et al. 2019)
 *     1F1B         P - 1 - stage forward passes, then one forward and one backward in turn (Narayanan et al. 2019)
 *     interleaved  the same over chunks, in groups of G micro-batches: 2 (P - 1 - stage) + (chunks - 1) G forward passes
 *                  first (Narayanan et al. 2021). G is the least divisor of the micro-batches from P on: P if they are a
 *                  multiple of it, as Megatron-LM chooses. Of one chunk: 1F1B
 *
 * With pairs, a forward pass and the backward pass of another micro-batch run beside each other: one communicates while
 * the other computes. 1F1B and interleaved then begin with 2 (P - 1 - stage) + (chunks - 1) G + 1 forward passes, since
 * a micro-batch needs a pair to each stage and a pair back.
 *
 * On an ideal network of equal stages, with M micro-batches, GPipe and 1F1B leave (P - 1) / (M + P - 1) of the time
 * idle (the bubble), interleaved (P - 1) / (M * chunks + P - 1). */
#ifndef TRAINING_PIPELINE_H
#define TRAINING_PIPELINE_H

#include "schedule/training/model.h"

struct training_pass {
    uint32_t batch; /* micro-batch, 0 .. micro_batches - 1 */
    uint32_t chunk; /* 0 .. chunks - 1 */
    bool backward;
    bool pair; /* forward: runs beside the next pass, a backward one */
};

/* Number of passes of a stage: 2 x micro_batches x chunks. */
uint32_t training_passes(const struct training_model *m);
/* Time of an iteration on a network on which everything arrives at once, ps: of the passes alone. forward, backward:
 * [virtual stages, stages.h] of a pass, ps. */
uint64_t training_pipeline_ps(const struct training_model *m, const uint64_t *forward, const uint64_t *backward);
/* Fills pass[training_passes()]. */
void training_pipeline_order(const struct training_model *m, uint32_t stage, struct training_pass *pass);

#endif
