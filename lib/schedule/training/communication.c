/* communication.c - the closed forms of volumes (communication.h). */
#include "schedule/training/communication.h"
#include "base/divisor.h"
#include "schedule/training/loads.h"
#include "schedule/walk.h"

/* Bytes of elements of a micro-batch, shared among so many ranks. */
static uint64_t share(const struct training_model *m, uint64_t elements, uint32_t ranks)
{
    uint64_t bytes = schedule_multiply(schedule_multiply(elements, training_micro_samples(m)), m->activation_bytes);
    return hx_divide_up(bytes, ranks);
}

/* ---- one layer ---- */

struct filling {
    const struct training_model *m;
    const struct training_layer *l;
    struct training_communication *list;
    unsigned count;
};

static void add(struct filling *f, enum training_moment moment, enum training_group group, enum hx_collective_kind kind,
                uint64_t bytes)
{
    if (bytes && training_group_size(f->m, group) > 1)
        f->list[f->count++] =
            (struct training_communication){.moment = moment, .group = group, .kind = kind, .bytes = bytes};
}

static void add_halo(struct filling *f, enum training_moment moment)
{
    uint64_t bytes = share(f->m, f->l->halo, f->m->parallel[TRAINING_CONTEXT]);
    unsigned before = f->count;
    add(f, moment, TRAINING_GROUP_TENSOR, HX_COLLECTIVE_ALL_TO_ALL, bytes);
    if (f->count > before)
        f->list[before].halo = true;
}

/* Before and after a pass: `before` is the first of both moments. */
static void add_columns(struct filling *f, enum training_moment before)
{
    uint64_t bytes = share(f->m, f->l->activations, f->m->parallel[TRAINING_CONTEXT]);
    if (f->m->sequence) {
        add(f, before, TRAINING_GROUP_TENSOR, HX_ALL_GATHER, bytes);
        add(f, before + 1, TRAINING_GROUP_TENSOR, HX_REDUCE_SCATTER, bytes);
    } else {
        add(f, before + 1, TRAINING_GROUP_TENSOR, HX_ALL_REDUCE, bytes);
    }
}

static void add_of_tokens(struct filling *f, enum training_moment moment, enum training_group group,
                          enum hx_collective_kind kind, uint64_t bytes, enum training_tokens tokens)
{
    const unsigned before = f->count;
    add(f, moment, group, kind, bytes);
    if (f->count == before || !training_is_unequal(f->m, f->l))
        return;
    f->list[before].tokens = tokens;
    f->list[before].layer = f->l;
}

static void add_experts(struct filling *f, enum training_moment before)
{
    const uint32_t *parallel = f->m->parallel;
    uint64_t own = share(f->m, f->l->routed, parallel[TRAINING_CONTEXT] * parallel[TRAINING_TENSOR]);
    uint64_t routed = share(f->m, f->l->routed, parallel[TRAINING_CONTEXT]);
    add_of_tokens(f, before, TRAINING_GROUP_EXPERT, HX_COLLECTIVE_ALL_TO_ALL, own, TRAINING_TO_EXPERTS);
    add_of_tokens(f, before, TRAINING_GROUP_TENSOR, HX_ALL_GATHER, routed, TRAINING_AT_EXPERTS);
    add_of_tokens(f, before + 1, TRAINING_GROUP_TENSOR, HX_REDUCE_SCATTER, routed, TRAINING_AT_EXPERTS);
    add_of_tokens(f, before + 1, TRAINING_GROUP_EXPERT, HX_COLLECTIVE_ALL_TO_ALL, own, TRAINING_FROM_EXPERTS);
    if (!f->m->sequence)
        add(f, before + 1, TRAINING_GROUP_TENSOR, HX_ALL_GATHER,
            share(f->m, f->l->activations, parallel[TRAINING_CONTEXT]));
}

static void add_forward(struct filling *f)
{
    uint64_t activations = share(f->m, f->l->activations, f->m->parallel[TRAINING_CONTEXT]);
    if (f->l->shard == TRAINING_COLUMNS)
        add_columns(f, TRAINING_BEFORE_FORWARD);
    else if (f->l->shard == TRAINING_EXPERTS)
        add_experts(f, TRAINING_BEFORE_FORWARD);
    else if (f->l->shard == TRAINING_OUTPUT)
        add(f, TRAINING_AFTER_FORWARD, TRAINING_GROUP_TENSOR, HX_ALL_GATHER, activations);
    else if (f->l->shard == TRAINING_SPACE)
        add_halo(f, TRAINING_AFTER_FORWARD);
    else if (f->l->shard == TRAINING_TABLES)
        add(f, TRAINING_AFTER_FORWARD, TRAINING_GROUP_TABLES, HX_COLLECTIVE_ALL_TO_ALL, activations);
    add(f, TRAINING_BEFORE_FORWARD, TRAINING_GROUP_CONTEXT, HX_ALL_GATHER,
        share(f->m, f->l->context, f->m->parallel[TRAINING_TENSOR]));
}

static void add_backward(struct filling *f)
{
    uint64_t activations = share(f->m, f->l->activations, f->m->parallel[TRAINING_CONTEXT]);
    add(f, TRAINING_AFTER_BACKWARD, TRAINING_GROUP_CONTEXT, HX_REDUCE_SCATTER,
        share(f->m, f->l->context, f->m->parallel[TRAINING_TENSOR]));
    if (f->l->shard == TRAINING_COLUMNS)
        add_columns(f, TRAINING_BEFORE_BACKWARD);
    else if (f->l->shard == TRAINING_EXPERTS)
        add_experts(f, TRAINING_BEFORE_BACKWARD);
    else if (f->l->shard == TRAINING_OUTPUT)
        add(f, TRAINING_BEFORE_BACKWARD, TRAINING_GROUP_TENSOR, HX_REDUCE_SCATTER, activations);
    else if (f->l->shard == TRAINING_SPACE)
        add_halo(f, TRAINING_BEFORE_BACKWARD);
    else if (f->l->shard == TRAINING_TABLES)
        add(f, TRAINING_BEFORE_BACKWARD, TRAINING_GROUP_TABLES, HX_COLLECTIVE_ALL_TO_ALL, activations);
}

enum training_group training_gradient_group(const struct training_layer *l)
{
    if (l->shard == TRAINING_EXPERTS)
        return TRAINING_GROUP_EXPERT_DATA;
    return l->shard == TRAINING_SPACE ? TRAINING_GROUP_STAGE : TRAINING_GROUP_REPLICAS;
}

/* Gradients and parameters. */
static void add_data(struct filling *f)
{
    uint64_t own = training_own_parameters(f->m, f->l);
    uint64_t untied = training_untied_parameters(f->m, f->l);
    uint64_t gradients = schedule_multiply(untied, f->m->gradient_element_bytes);
    uint64_t parameters = schedule_multiply(f->m->zero == 3 ? own : untied, f->m->parameter_bytes);
    enum training_group group = training_gradient_group(f->l);
    if (f->l->shard == TRAINING_TABLES)
        return;
    add(f, TRAINING_GRADIENTS, group, f->m->zero ? HX_REDUCE_SCATTER : HX_ALL_REDUCE, gradients);
    if (f->m->zero == 3) {
        add(f, TRAINING_FETCH_FORWARD, group, HX_ALL_GATHER, parameters);
        add(f, TRAINING_FETCH_BACKWARD, group, HX_ALL_GATHER, parameters);
    } else if (f->m->zero) {
        add(f, TRAINING_PARAMETERS, group, HX_ALL_GATHER, parameters);
    }
}

unsigned training_communications(const struct training_model *m, const struct training_layer *l,
                                 struct training_communication list[TRAINING_MOST_COMMUNICATIONS])
{
    struct training_communication all[TRAINING_MOST_COMMUNICATIONS] = {{.bytes = 0}};
    struct filling f = {.m = m, .l = l, .list = all};
    add_forward(&f);
    add_backward(&f);
    add_data(&f);
    unsigned count = 0;
    for (enum training_moment moment = 0; moment < TRAINING_MOMENTS; moment++) {
        for (unsigned i = 0; i < f.count; i++) {
            if (all[i].moment == moment)
                list[count++] = all[i];
        }
    }
    return count;
}

uint64_t training_bytes_at(const struct training_model *m, const struct training_communication *c, uint32_t position)
{
    return c->tokens == TRAINING_AT_EXPERTS ? training_loaded(m, c->layer, position, c->bytes) : c->bytes;
}

bool training_fuses(const struct training_model *m, uint32_t layer)
{
    return m->fuse_tables && layer + 1 < m->layers && m->layer[layer].shard == TRAINING_TABLES &&
           m->layer[layer + 1].shard == TRAINING_TABLES;
}

uint32_t training_times(const struct training_model *m, const struct training_layer *l, enum training_moment moment)
{
    switch (moment) {
    case TRAINING_BEFORE_FORWARD:
    case TRAINING_AFTER_FORWARD:
        return training_repeats_forward(m, l) ? 2 * m->micro_batches : m->micro_batches;
    case TRAINING_GRADIENTS:
        return m->zero >= 2 ? m->micro_batches : 1;
    case TRAINING_PARAMETERS:
        return 1;
    default:
        return m->micro_batches;
    }
}

uint32_t training_parts(const struct training_model *m, const struct training_layer *l,
                        const struct training_communication *c)
{
    return c->group == TRAINING_GROUP_TENSOR && !c->halo ? training_splits(m, l) : 1;
}

uint32_t training_neighbours(const struct training_model *m, enum training_group group)
{
    uint32_t neighbours = 0;
    while ((uint32_t)1 << neighbours < training_group_size(m, group))
        neighbours++;
    return neighbours;
}

uint64_t training_stage_bytes(const struct training_model *m, const struct training_layer *l)
{
    uint32_t parts = m->sequence || l->shard == TRAINING_SPACE ? m->parallel[TRAINING_TENSOR] : 1;
    return share(m, l->activations, parts * m->parallel[TRAINING_CONTEXT]);
}

uint64_t training_tied_bytes(const struct training_model *m)
{
    const uint64_t bytes = schedule_multiply(training_tied_parameters(m), m->gradient_element_bytes);
    const uint64_t ranks = m->zero >= 2 ? training_group_size(m, training_gradient_group(&m->layer[0])) : 1;
    return hx_divide_up(bytes, ranks);
}
