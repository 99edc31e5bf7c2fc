/* support_training.c - models of tests (support_training.h). */
#include "tests/support/support_training.h"
#include "schedule/training/stages.h"
#include "tests/support/support_random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct training_model *training_equal(uint32_t layers, uint64_t forward_ps, uint64_t backward_ps)
{
    struct training_model *m = hx_allocate(1, sizeof *m);
    *m = (struct training_model){.path = "test",
                                 .layer = hx_allocate(layers, sizeof *m->layer),
                                 .layers = layers,
                                 .samples = 1,
                                 .iterations = 1,
                                 .parallel = {1, 1, 1, 1},
                                 .expert = 1,
                                 .order = {TRAINING_TENSOR, TRAINING_CONTEXT, TRAINING_DATA, TRAINING_PIPELINE},
                                 .pipeline = TRAINING_1F1B,
                                 .micro_batches = 1,
                                 .chunks = 1,
                                 .prefetch = 1,
                                 .tensor_splits = 1,
                                 .activation_bytes = 2,
                                 .gradient_element_bytes = 2,
                                 .parameter_bytes = 2,
                                 .flops = 1e12,
                                 .efficiency = 1};
    for (uint32_t i = 0; i < layers; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "layer %u", i + 1);
        m->layer[i] = (struct training_layer){
            .name = strdup(name), .activations = 1, .forward_ps = forward_ps, .backward_ps = backward_ps};
    }
    return m;
}

/* A degree that divides what is left of the ranks. */
static uint32_t draw_degree(uint64_t *seed, uint32_t *left)
{
    uint32_t degree = 1 + seeded_below(seed, *left < 4 ? *left : 4);
    *left /= degree;
    return degree;
}

static void draw_layer(struct training_layer *l, uint64_t *seed)
{
    l->shard = (enum training_shard)seeded_below(seed, TRAINING_SHARDS);
    l->parameters = seeded_below(seed, 1000);
    l->activations = seeded_below(seed, 1000);
    l->halo = l->shard == TRAINING_SPACE ? seeded_below(seed, 100) : 0;
    l->routed = l->shard == TRAINING_EXPERTS ? seeded_below(seed, 1000) : 0;
    l->context = seeded_below(seed, 2) * seeded_below(seed, 100);
    l->forward_ps = 1 + seeded_below(seed, 1000);
    l->backward_ps = 1 + seeded_below(seed, 1000);
}

static uint32_t draw_divisor(uint64_t *seed, uint32_t of)
{
    uint32_t divisor = 1 + seeded_below(seed, of);
    while (of % divisor)
        divisor--;
    return divisor;
}

/* Parameters that the first and the last layer may share. */
static void draw_tied(struct training_model *m, uint64_t *seed)
{
    struct training_layer *first = &m->layer[0];
    struct training_layer *last = &m->layer[m->layers - 1];
    if (m->layers == 1 || seeded_below(seed, 2))
        return;
    first->shard = last->shard = seeded_below(seed, 2) ? TRAINING_COLUMNS : TRAINING_WHOLE;
    first->halo = last->halo = first->routed = last->routed = 0;
    last->tied =
        seeded_below(seed, 1 + (uint32_t)(first->parameters < last->parameters ? first->parameters : last->parameters));
}

struct training_model *training_random(uint64_t *seed, uint32_t ranks)
{
    uint32_t layers = 1 + seeded_below(seed, 12);
    struct training_model *m = training_equal(layers, 1, 1);
    for (unsigned i = TRAINING_AXES; i-- > 1;) {
        unsigned other = seeded_below(seed, i + 1);
        enum training_axis axis = m->order[i];
        m->order[i] = m->order[other];
        m->order[other] = axis;
    }
    for (unsigned i = 0; i < TRAINING_AXES; i++)
        m->parallel[m->order[i]] = draw_degree(seed, &ranks);
    if (m->parallel[TRAINING_PIPELINE] > layers)
        m->parallel[TRAINING_PIPELINE] = layers;
    m->expert = draw_divisor(seed, m->parallel[TRAINING_CONTEXT] * m->parallel[TRAINING_DATA]);
    m->pipeline = (enum training_pipeline)seeded_below(seed, 3);
    m->micro_batches = 1 + seeded_below(seed, 6);
    if (m->pipeline == TRAINING_INTERLEAVED) {
        m->micro_batches = m->parallel[TRAINING_PIPELINE] * (1 + seeded_below(seed, 3));
        m->chunks = 1 + seeded_below(seed, layers / m->parallel[TRAINING_PIPELINE]);
    }
    m->pairs = m->pipeline != TRAINING_GPIPE && seeded_below(seed, 2);
    m->samples = (uint64_t)m->parallel[TRAINING_DATA] * m->micro_batches * (1 + seeded_below(seed, 3));
    m->sample_tokens = seeded_below(seed, 2) * 10;
    m->iterations = 1 + seeded_below(seed, 3);
    m->zero = seeded_below(seed, 4);
    m->sequence = seeded_below(seed, 2);
    m->recompute = (enum training_recompute)seeded_below(seed, 3);
    m->overlap = seeded_below(seed, 2);
    m->prefetch = seeded_below(seed, 4);
    m->tensor_splits = 1 + seeded_below(seed, 2) * seeded_below(seed, 4);
    m->fuse_tables = seeded_below(seed, 2);
    m->gradient_bytes = seeded_below(seed, 2) * seeded_below(seed, 2000);
    m->gradient_element_bytes = 1 + seeded_below(seed, 4);
    m->parameter_bytes = 1 + seeded_below(seed, 4);
    m->update_ps = seeded_below(seed, 2) * 50;
    for (uint32_t i = 0; i < layers; i++)
        draw_layer(&m->layer[i], seed);
    draw_tied(m, seed);
    return m;
}

struct schedule_builder *training_built(const struct training_model *m, const struct training_timing *timed)
{
    struct hx_problem problem;
    struct schedule_builder *b = training_generate(m, timed, &problem);
    if (!b)
        fail_msg("%s: %s", problem.where, problem.what);
    return b;
}

/* ---- volumes ---- */

static double sent(const struct training_model *m, const struct training_layer *l,
                   const struct training_communication *c)
{
    double size = training_group_size(m, c->group);
    double all = (double)c->bytes * training_times(m, l, c->moment);
    if (c->halo)
        return all * training_neighbours(m, c->group);
    return all * (c->kind == HX_ALL_REDUCE ? 2 : 1) * (size - 1) / size;
}

static void add_virtual_stage(struct training_volume *volume, const struct training_model *m,
                              const struct training_stages *s, uint32_t v)
{
    for (uint32_t i = s->first[v]; i < s->first[v + 1]; i++) {
        struct training_communication list[TRAINING_MOST_COMMUNICATIONS];
        unsigned count = training_communications(m, &m->layer[i], list);
        for (unsigned c = 0; c < count; c++)
            volume->bytes[list[c].group] += sent(m, &m->layer[i], &list[c]);
    }
    if (m->parallel[TRAINING_PIPELINE] == 1)
        return;
    if (v + 1 < s->count)
        volume->pipeline_bytes += (double)training_stage_bytes(m, &m->layer[s->first[v + 1] - 1]) * m->micro_batches;
    if (v)
        volume->pipeline_bytes += (double)training_stage_bytes(m, &m->layer[s->first[v] - 1]) * m->micro_batches;
}

static double sum(const struct training_volume *volume)
{
    double all = volume->pipeline_bytes;
    for (unsigned i = 0; i < TRAINING_GROUPS; i++)
        all += volume->bytes[i];
    return all;
}

struct training_volume training_volume_of(const struct training_model *m)
{
    struct training_volume most = {.pipeline_bytes = 0};
    struct training_stages s;
    struct hx_problem problem;
    if (!training_stages_make(&s, m, &problem))
        return most;
    for (uint32_t stage = 0; stage < m->parallel[TRAINING_PIPELINE]; stage++) {
        struct training_volume own = {.pipeline_bytes = 0};
        for (uint32_t v = stage; v < s.count; v += m->parallel[TRAINING_PIPELINE])
            add_virtual_stage(&own, m, &s, v);
        if (stage == 0 || stage + 1 == m->parallel[TRAINING_PIPELINE])
            own.pipeline_bytes += (double)training_tied_bytes(m);
        if (sum(&own) > sum(&most))
            most = own;
    }
    training_stages_free(&s);
    return most;
}
