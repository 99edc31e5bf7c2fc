/* memory.h - memory of an accelerator of each pipeline stage, from the model alone.
 *
 * Data that flows. Layers of a stage (stages.h) and the order of its passes (pipeline.h) become bytes. Of W parameters
 * of a layer at a rank, N ranks that sum its gradients, elements of p and g bytes, o bytes of optimizer states a
 * parameter:
 *
 *     weights       W p;   ZeRO 3: / N                                (Rajbhandari et al. 2020, figure 1)
 *     gradients     W g;   ZeRO 2, 3: / N
 *     optimizer     W o;   ZeRO 1, 2, 3: / N
 *     activations   what layers keep for their backward passes, at the moment of an iteration at which it is most
 *     buffers       ZeRO 2, 3: the gradients of a group before they are sent, at most `gradient_bytes` and a layer.
 *                   ZeRO 3: parameters of two layers, one that computes and one that is fetched. Messages of stages:
 *                   one that comes, one that leaves. Experts: what is sent and received. `sequence`: one gathered layer
 *     reserved      the file's `accelerator.reserved`
 *
 * A layer keeps, of a sample, `saved` bytes, which tensor and context parallelism divide, and `saved_whole` bytes,
 * which context and sequence parallelism divide (Korthikanti et al. 2022, section 4). A layer without these keys is
 * taken to keep what leaves it. With selective recomputation it does not keep its `recomputed` bytes. With full
 * recomputation a block keeps only what enters it, and while its backward pass runs all of one block. A block is the
 * body of a repeat, or a layer outside all repeats. */
#ifndef TRAINING_MEMORY_H
#define TRAINING_MEMORY_H

#include "schedule/training/model.h"

/* Of an accelerator of a stage, bytes. */
struct training_memory {
    uint64_t weights, gradients, optimizer, activations, buffers, reserved;
    uint64_t total;
    uint32_t passes; /* forward passes without their backward pass when activations are most: micro-batches x chunks */
};

/* Fills memory[stages]: TRAINING_PIPELINE of them. Returns false and sets *problem as training_stages_make(). */
bool training_memory_find(const struct training_model *m, struct training_memory *memory, struct hx_problem *problem);

/* Returns the stage with the most memory. */
uint32_t training_memory_most(const struct training_model *m, const struct training_memory *memory);

/* Bytes that all layers keep of one micro-batch, at the ranks that share it. */
uint64_t training_memory_kept(const struct training_model *m);

/* Number of layers that compute and do not say what they keep. */
uint32_t training_layers_without_saved(const struct training_model *m);

#endif
