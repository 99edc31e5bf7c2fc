/* pipeline.c - orders of passes (pipeline.h). */
#include "schedule/training/pipeline.h"

uint32_t training_passes(const struct training_model *m)
{
    return 2 * m->micro_batches * m->chunks;
}

/* The n-th forward or backward pass. Backward passes take the chunks in opposite order. */
static struct training_pass nth(const struct training_model *m, uint32_t n, bool backward)
{
    uint32_t group = m->pipeline == TRAINING_INTERLEAVED ? m->parallel[TRAINING_PIPELINE] : 1;
    uint32_t chunk = n / group % m->chunks;
    struct training_pass pass = {.batch = n / (group * m->chunks) * group + n % group,
                                 .chunk = backward ? m->chunks - 1 - chunk : chunk,
                                 .backward = backward};
    if (backward && m->pipeline == TRAINING_GPIPE)
        pass.batch = m->micro_batches - 1 - pass.batch;
    return pass;
}

/* Forward passes before the first backward pass, the one that is in turn with it not counted. */
static uint32_t warm_up(const struct training_model *m, uint32_t stage)
{
    uint32_t behind = m->parallel[TRAINING_PIPELINE] - 1 - stage;
    uint32_t all = m->micro_batches * m->chunks;
    uint32_t first = all;
    if (m->pipeline == TRAINING_1F1B || (m->pipeline == TRAINING_INTERLEAVED && m->chunks == 1))
        first = behind;
    else if (m->pipeline == TRAINING_INTERLEAVED)
        first = 2 * behind + (m->chunks - 1) * m->parallel[TRAINING_PIPELINE];
    return first < all ? first : all;
}

void training_pipeline_order(const struct training_model *m, uint32_t stage, struct training_pass *pass)
{
    uint32_t all = m->micro_batches * m->chunks;
    uint32_t first = warm_up(m, stage);
    for (uint32_t i = 0; i < first; i++)
        *pass++ = nth(m, i, false);
    for (uint32_t i = first; i < all; i++) {
        *pass++ = nth(m, i, false);
        *pass++ = nth(m, i - first, true);
    }
    for (uint32_t i = all - first; i < all; i++)
        *pass++ = nth(m, i, true);
}
