/* generate.c - what all ranks of a training schedule share (generate.h). */
#include "schedule/training/generate_parts.h" /* circle: what its files share */
#include "schedule/training/loads.h"
#include "schedule/walk.h"

#include <stdlib.h>

/* ---- layers ---- */

static const struct training_communication *find(const struct generator_layer *l, enum training_moment moment)
{
    for (unsigned i = 0; i < l->communications; i++) {
        if (l->communication[i].moment == moment)
            return &l->communication[i];
    }
    return NULL;
}

static struct training_communication *find_of_tables(struct generator_layer *l, enum training_moment moment)
{
    for (unsigned i = 0; i < l->communications; i++) {
        if (l->communication[i].moment == moment && l->communication[i].group == TRAINING_GROUP_TABLES)
            return &l->communication[i];
    }
    return NULL;
}

/* Gathers the gradients of a virtual stage, in the order of the backward pass: the layer that completes a group has
 * it, and the first layer of each kind of group what is left. */
static void group_gradients(const struct generator *g, uint32_t v)
{
    uint64_t gradients[TRAINING_GROUPS] = {0};
    uint64_t parameters[TRAINING_GROUPS] = {0};
    uint32_t first[TRAINING_GROUPS];
    for (uint32_t i = g->stages.first[v + 1]; i-- > g->stages.first[v];) {
        const struct training_communication *c = find(&g->layer[i], TRAINING_GRADIENTS);
        if (c)
            first[c->group] = i;
    }
    for (uint32_t i = g->stages.first[v + 1]; i-- > g->stages.first[v];) {
        struct generator_layer *l = &g->layer[i];
        const struct training_communication *c = find(l, TRAINING_GRADIENTS);
        const struct training_communication *p = find(l, TRAINING_PARAMETERS);
        if (!c)
            continue;
        gradients[c->group] = schedule_add(gradients[c->group], c->bytes);
        parameters[c->group] = schedule_add(parameters[c->group], p ? p->bytes : 0);
        if (gradients[c->group] < g->m->gradient_bytes && i != first[c->group])
            continue;
        l->gradients = *c;
        l->gradients.bytes = gradients[c->group];
        if (p)
            l->parameters = *p;
        l->parameters.bytes = parameters[c->group];
        gradients[c->group] = parameters[c->group] = 0;
    }
}

/* Adds the all-to-alls of a table to those of the next one, which is later forward and earlier backward. Vectors stay
 * within their bound. */
static void fuse(struct generator_layer *table, struct generator_layer *next)
{
    unsigned left = 0;
    for (unsigned i = 0; i < table->communications; i++) {
        const struct training_communication *c = &table->communication[i];
        const bool fits = c->group == TRAINING_GROUP_TABLES;
        struct training_communication *to = fits ? find_of_tables(next, c->moment) : NULL;
        if (to && c->bytes <= TRAINING_MOST_BYTES - to->bytes)
            to->bytes += c->bytes;
        else
            table->communication[left++] = *c;
    }
    table->communications = left;
}

static void fuse_tables(const struct generator *g, uint32_t v)
{
    for (uint32_t i = g->stages.first[v]; i + 1 < g->stages.first[v + 1]; i++) {
        if (training_fuses(g->m, i))
            fuse(&g->layer[i], &g->layer[i + 1]);
    }
}

static void prepare_layers(struct generator *g)
{
    const struct training_model *m = g->m;
    g->layer = hx_allocate(m->layers, sizeof *g->layer);
    for (uint32_t i = 0; i < m->layers; i++) {
        struct generator_layer *l = &g->layer[i];
        l->layer = &m->layer[i];
        l->forward_ps = training_forward_ps(m, l->layer);
        l->backward_ps =
            training_backward_ps(m, l->layer) - (training_repeats_forward(m, l->layer) ? l->forward_ps : 0);
        l->communications = training_communications(m, l->layer, l->communication);
        g->beside = g->beside || (m->overlap && find(l, TRAINING_GRADIENTS));
    }
    for (uint32_t v = 0; v < g->stages.count; v++) {
        group_gradients(g, v);
        fuse_tables(g, v);
    }
}

/* ---- ranks ---- */

static void set_head(const struct generator *g)
{
    const struct training_model *m = g->m;
    uint32_t size[TRAINING_AXES] = {1};
    unsigned count = 0;
    if (g->timed) {
        size[count++] = m->parallel[TRAINING_PIPELINE];
    } else {
        for (unsigned i = 0; i < TRAINING_AXES; i++) {
            if (m->parallel[m->order[i]] > 1)
                size[count++] = m->parallel[m->order[i]];
        }
    }
    schedule_set_dimensions(g->b, size, count ? count : 1);
    schedule_set_work(g->b, m->samples, schedule_multiply(m->samples, m->sample_tokens), m->iterations);
}

/* Fills the ranks of a stage: they have the same passes. */
static void fill_stage(struct generator *g, uint32_t stage, uint32_t *arrived)
{
    struct generator_rank r = {.g = g, .stage = stage, .arrived = arrived};
    training_pipeline_order(g->m, stage, g->pass);
    for (uint32_t rank = 0; rank < training_ranks(g->m); rank++) {
        if (training_place_of(g->m, rank).at[TRAINING_PIPELINE] != stage)
            continue;
        r.rank = rank;
        r.number = g->timed ? stage : rank;
        r.expert = g->timed ? TRAINING_FULLEST : training_group_position(g->m, TRAINING_GROUP_EXPERT, rank);
        generator_fill(&r);
        if (g->timed)
            return;
    }
}

static void fill(struct generator *g)
{
    const struct training_model *m = g->m;
    uint32_t ranks = training_ranks(m);
    uint32_t *arrived = hx_allocate(m->layers, sizeof *arrived);
    for (uint32_t i = 0; i < m->layers; i++)
        arrived[i] = NONE;
    g->b = schedule_builder_new(g->timed ? m->parallel[TRAINING_PIPELINE] : ranks);
    g->pass = hx_allocate(training_passes(m), sizeof *g->pass);
    g->member = hx_allocate(ranks, sizeof *g->member);
    g->shares = hx_allocate(m->load_count + 1, sizeof *g->shares);
    for (unsigned i = 0; i < TRAINING_GROUPS; i++) {
        g->group[i] = hx_allocate(ranks, sizeof *g->group[i]);
        for (uint32_t rank = 0; rank < ranks; rank++)
            g->group[i][rank] = NONE;
    }
    set_head(g);
    for (uint32_t stage = 0; stage < m->parallel[TRAINING_PIPELINE]; stage++)
        fill_stage(g, stage, arrived);
    for (unsigned i = 0; i < TRAINING_GROUPS; i++)
        free(g->group[i]);
    HX_FREE(g->member, g->pass, g->shares, arrived);
}

struct schedule_builder *training_generate(const struct training_model *m, const struct training_timing *timed,
                                           struct hx_problem *problem)
{
    struct generator g = {.m = m, .timed = timed};
    if (!training_stages_make(&g.stages, m, problem))
        return NULL;
    prepare_layers(&g);
    fill(&g);
    training_stages_free(&g.stages);
    free(g.layer);
    return g.b;
}
