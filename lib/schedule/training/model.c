/* model.c - what follows from a model at once (model.h). */
#include "schedule/training/model.h"
#include "base/divisor.h"
#include "schedule/training/loads.h" /* circle: a layer takes as long as its fullest rank */

#include <math.h>
#include <stdlib.h>

const char *const training_axis_names[] = {"tensor", "context", "data", "pipeline", NULL};
const char *const training_pipeline_names[] = {"gpipe", "1f1b", "interleaved", NULL};
const char *const training_recompute_names[] = {"false", "selective", "true", NULL};
const char *const training_divided_names[] = {"m", "n", "k", "times", "none", NULL};
const char *const training_shard_names[] = {"whole", "columns", "output", "space", "experts", "tables", NULL};

void training_model_free(struct training_model *m)
{
    if (!m)
        return;
    for (uint32_t i = 0; i < m->layers; i++)
        free(m->layer[i].name);
    HX_FREE(m->layer, m->product, m->load, m->name, m->stage_of);
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

uint32_t training_tensor_ranks(const struct training_model *m, const struct training_layer *l)
{
    return l->shard == TRAINING_WHOLE || l->shard == TRAINING_TABLES ? 1 : m->parallel[TRAINING_TENSOR];
}

uint32_t training_sequence_ranks(const struct training_model *m)
{
    return m->sequence ? m->parallel[TRAINING_TENSOR] : 1;
}

/* Samples of a micro-batch at a rank: context parallelism divides each. */
static double own_samples(const struct training_model *m)
{
    return (double)training_micro_samples(m) / m->parallel[TRAINING_CONTEXT];
}

uint32_t training_splits(const struct training_model *m, const struct training_layer *l)
{
    const bool sends = l->shard == TRAINING_COLUMNS || l->shard == TRAINING_OUTPUT;
    return sends && m->parallel[TRAINING_TENSOR] > 1 && m->tensor_splits > 1 ? m->tensor_splits : 1;
}

double training_product_efficiency(const struct training_kernels *k, double rows, double columns, double inner)
{
    const double area = rows * columns;
    return k->efficiency * (inner / (inner + k->inner)) * (area / (area + k->outer));
}

/* Seconds of products of m x k by k x n. */
static double product_seconds(const struct training_model *m, const struct training_product *p, double rows,
                              double columns, double inner, double times)
{
    const double flops = 2 * rows * columns * inner * times;
    double efficiency = p->efficiency;
    if (efficiency <= 0)
        efficiency =
            m->kernels.efficiency > 0 ? training_product_efficiency(&m->kernels, rows, columns, inner) : m->efficiency;
    return flops > 0 ? flops / (m->flops * efficiency) : 0;
}

/* Seconds of the products of a pass; or if `recomputed`, of those alone that are recomputed. Splits cut the rows of
 * products by weights. */
static double products_seconds(const struct training_model *m, const struct training_layer *l, bool backward,
                               bool recomputed)
{
    double seconds = 0;
    for (uint32_t i = 0; i < l->products; i++) {
        const struct training_product *p = &m->product[l->product + i];
        double size[] = {(double)p->m * own_samples(m), (double)p->n, (double)p->k, (double)p->times};
        if (recomputed && !p->recomputed)
            continue;
        if (p->divided != TRAINING_UNDIVIDED)
            size[p->divided] /= training_tensor_ranks(m, l);
        const double parts = p->divided == TRAINING_TIMES ? 1 : training_splits(m, l);
        if (!backward)
            seconds += product_seconds(m, p, size[0] / parts, size[1], size[2], size[3] * parts);
        else
            seconds += product_seconds(m, p, size[0] / parts, size[2], size[1], size[3] * parts) +
                       product_seconds(m, p, size[2], size[1], size[0], size[3]);
    }
    return seconds;
}

/* Seconds of memory-bound kernels: bytes that tensor ranks divide, and bytes that sequence parallelism divides. */
static double moved_seconds(const struct training_model *m, const struct training_layer *l, double shared, double whole)
{
    if (m->memory_bandwidth <= 0)
        return 0;
    const double own = shared / training_tensor_ranks(m, l) + whole / training_sequence_ranks(m);
    return own * own_samples(m) / m->memory_bandwidth;
}

static double flops_seconds(const struct training_model *m, const struct training_layer *l, double flops)
{
    return flops > 0 ? flops * own_samples(m) / training_tensor_ranks(m, l) / (m->flops * m->efficiency) : 0;
}

/* At the fullest rank. */
static uint64_t ps_of(const struct training_model *m, const struct training_layer *l, double seconds)
{
    const double most = seconds * training_load(m, l, TRAINING_FULLEST);
    return (uint64_t)llround(fmin(most * 1e12, 0x1p60));
}

uint64_t training_forward_ps(const struct training_model *m, const struct training_layer *l)
{
    if (l->forward_ps)
        return training_loaded(m, l, TRAINING_FULLEST, l->forward_ps);
    const double moved = moved_seconds(m, l, (double)l->moved, (double)l->moved_whole);
    return ps_of(m, l, moved + (l->products ? products_seconds(m, l, false, false) : flops_seconds(m, l, l->flops)));
}

static double backward_seconds(const struct training_model *m, const struct training_layer *l)
{
    const double moved = moved_seconds(m, l, (double)l->backward_moved, 1.5 * (double)l->moved_whole);
    return moved + (l->products ? products_seconds(m, l, true, false) : flops_seconds(m, l, l->backward_flops));
}

static double recomputed_seconds(const struct training_model *m, const struct training_layer *l)
{
    return moved_seconds(m, l, (double)l->recomputed_moved, 0) + products_seconds(m, l, false, true);
}

bool training_repeats_forward(const struct training_model *m, const struct training_layer *l)
{
    return m->recompute == TRAINING_RECOMPUTE_FULL && !l->keeps_all;
}

uint64_t training_backward_ps(const struct training_model *m, const struct training_layer *l)
{
    const uint64_t ps =
        l->backward_ps ? training_loaded(m, l, TRAINING_FULLEST, l->backward_ps) : ps_of(m, l, backward_seconds(m, l));
    if (training_repeats_forward(m, l))
        return ps + training_forward_ps(m, l);
    return m->recompute == TRAINING_RECOMPUTE_SELECTIVE ? ps + ps_of(m, l, recomputed_seconds(m, l)) : ps;
}

/* Operations forward of what selective recomputation makes again, of a sample. */
static double recomputed_flops(const struct training_model *m, const struct training_layer *l)
{
    double flops = 0;
    for (uint32_t i = 0; i < l->products; i++) {
        const struct training_product *p = &m->product[l->product + i];
        flops += p->recomputed ? 2.0 * (double)p->m * (double)p->n * (double)p->k * (double)p->times : 0;
    }
    return flops;
}

double training_flops(const struct training_model *m, bool recomputed)
{
    double flops = 0;
    for (uint32_t i = 0; i < m->layers; i++) {
        const struct training_layer *l = &m->layer[i];
        if (l->forward_ps)
            return 0;
        flops += l->flops + l->backward_flops;
        if (recomputed && training_repeats_forward(m, l))
            flops += l->flops;
        else if (recomputed && m->recompute == TRAINING_RECOMPUTE_SELECTIVE)
            flops += recomputed_flops(m, l);
    }
    return flops * (double)m->samples;
}

/* ---- parameters ---- */

/* A rank's share, rounded up. */
static uint64_t share_of(const struct training_model *m, const struct training_layer *l, uint64_t elements)
{
    const uint64_t parts[TRAINING_SHARDS] = {
        [TRAINING_WHOLE] = 1,
        [TRAINING_COLUMNS] = m->parallel[TRAINING_TENSOR],
        [TRAINING_OUTPUT] = m->parallel[TRAINING_TENSOR],
        [TRAINING_SPACE] = 1,
        [TRAINING_EXPERTS] = (uint64_t)m->parallel[TRAINING_TENSOR] * m->expert,
        [TRAINING_TABLES] = (uint64_t)m->parallel[TRAINING_CONTEXT] * m->parallel[TRAINING_DATA],
    };
    return hx_divide_up(elements, parts[l->shard]);
}

uint64_t training_own_parameters(const struct training_model *m, const struct training_layer *l)
{
    return share_of(m, l, l->parameters);
}

uint64_t training_untied_parameters(const struct training_model *m, const struct training_layer *l)
{
    return share_of(m, l, l->parameters) - (m->parallel[TRAINING_PIPELINE] == 1 ? share_of(m, l, l->tied) : 0);
}

uint64_t training_tied_parameters(const struct training_model *m)
{
    const struct training_layer *last = &m->layer[m->layers - 1];
    return m->parallel[TRAINING_PIPELINE] == 1 ? 0 : share_of(m, last, last->tied);
}
