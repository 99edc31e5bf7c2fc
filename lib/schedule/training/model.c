/* model.c - what follows from a model at once (model.h). */
#include "schedule/training/model.h"

#include <math.h>
#include <stdlib.h>

const char *const training_axis_names[] = {"tensor", "context", "data", "pipeline", NULL};
const char *const training_pipeline_names[] = {"gpipe", "1f1b", "interleaved", NULL};
const char *const training_shard_names[] = {"whole", "columns", "output", "space", "experts", "tables", NULL};

void training_model_free(struct training_model *m)
{
    if (!m)
        return;
    for (uint32_t i = 0; i < m->layers; i++)
        free(m->layer[i].name);
    HX_FREE(m->layer, m->name, m->stage_of);
    free(m);
}

uint32_t training_ranks(const struct training_model *m)
{
    uint32_t ranks = 1;
    for (unsigned axis = 0; axis < TRAINING_AXES; axis++)
        ranks *= m->parallel[axis];
    return ranks;
}

uint64_t training_micro_samples(const struct training_model *m)
{
    return m->samples / m->parallel[TRAINING_DATA] / m->micro_batches;
}

/* ---- computing ---- */

/* Ranks that share the computing of a layer for one sample. Experts and tables are elsewhere, but each of their ranks
 * computes for as many samples as it has itself. */
static double sharers(const struct training_model *m, const struct training_layer *l)
{
    bool is_shared = l->shard != TRAINING_WHOLE && l->shard != TRAINING_TABLES;
    return (double)m->parallel[TRAINING_CONTEXT] * (is_shared ? m->parallel[TRAINING_TENSOR] : 1);
}

static uint64_t ps_of(const struct training_model *m, const struct training_layer *l, double flops)
{
    if (flops <= 0)
        return 0;
    double seconds = flops * (double)training_micro_samples(m) / sharers(m, l) / (m->flops * m->efficiency);
    return (uint64_t)llround(fmin(seconds * 1e12, 0x1p60));
}

uint64_t training_forward_ps(const struct training_model *m, const struct training_layer *l)
{
    return l->forward_ps ? l->forward_ps : ps_of(m, l, l->flops);
}

uint64_t training_backward_ps(const struct training_model *m, const struct training_layer *l)
{
    uint64_t ps = l->backward_ps ? l->backward_ps : ps_of(m, l, l->backward_flops);
    return ps + (m->recompute ? training_forward_ps(m, l) : 0);
}

/* ---- parameters ---- */

uint64_t training_own_parameters(const struct training_model *m, const struct training_layer *l)
{
    const uint64_t parts[TRAINING_SHARDS] = {
        [TRAINING_WHOLE] = 1,
        [TRAINING_COLUMNS] = m->parallel[TRAINING_TENSOR],
        [TRAINING_OUTPUT] = m->parallel[TRAINING_TENSOR],
        [TRAINING_SPACE] = 1,
        [TRAINING_EXPERTS] = (uint64_t)m->parallel[TRAINING_TENSOR] * m->expert,
        [TRAINING_TABLES] = (uint64_t)m->parallel[TRAINING_CONTEXT] * m->parallel[TRAINING_DATA],
    };
    return l->parameters / parts[l->shard] + (l->parameters % parts[l->shard] != 0);
}
