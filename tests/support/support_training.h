/* support_training.h - models of tests, built in memory (schedule/training/model.h). */
#ifndef HXMESH_TESTS_SUPPORT_TRAINING_H
#define HXMESH_TESTS_SUPPORT_TRAINING_H

#include "schedule/training/generate.h"

/* A model of equal layers, each of forward_ps and backward_ps, on one rank, with one micro-batch of one sample. Its
 * fields may change before anything is made of it. Free with training_model_free(). */
struct training_model *training_equal(uint32_t layers, uint64_t forward_ps, uint64_t backward_ps);

/* A model drawn at random: degrees, order, pipeline, shards, ZeRO, overlap, groups of gradients. At most `ranks`. */
struct training_model *training_random(uint64_t *seed, uint32_t ranks);

/* The builder of a model's schedule, which has to be possible. */
struct schedule_builder *training_built(const struct training_model *m, const struct training_timing *timed);

/* Sums of one iteration at one rank of the busiest stage, the one that sends the most: bytes that a rank sends, by an
 * algorithm that sends no more than it must (all-reduce 2 (n - 1) / n of the vector, all-gather, reduce-scatter and
 * all-to-all (n - 1) / n). Zeros if there are fewer layers than stages. */
struct training_volume {
    double bytes[TRAINING_GROUPS];
    double pipeline_bytes;
};
struct training_volume training_volume_of(const struct training_model *m);

#endif
