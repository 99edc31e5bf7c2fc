/* pipeline.h - the order of passes at a pipeline stage.
 *
 *     GPipe        all forward passes, then all backward passes in the opposite order (Huang et al. 2019)
 *     1F1B         P - 1 - stage forward passes, then one forward and one backward in turn (Narayanan et al. 2019)
 *     interleaved  the same over chunks, in groups of P micro-batches: 2 (P - 1 - stage) + (chunks - 1) P forward passes
 *                  first (Narayanan et al. 2021). Micro-batches are a multiple of P, as in Megatron-LM. Of one chunk:
 *                  1F1B
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
};

/* Number of passes of a stage: 2 x micro_batches x chunks. */
uint32_t training_passes(const struct training_model *m);
/* Fills pass[training_passes()]. */
void training_pipeline_order(const struct training_model *m, uint32_t stage, struct training_pass *pass);

#endif
