/* layout.c - layouts of a model (layout.h). */
#include "schedule/training/layout.h"
#include "schedule/training/stages.h"
#include "schedule/walk.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const training_choice_names[] = {"tensor", "context", "data", "pipeline",  "expert",
                                             "chunks", "batch",   "zero", "recompute", NULL};

const char *const training_choice_rules[] = {
    [TRAINING_CHOOSE_TENSOR] = "tensor divides the ranks, and the products of layers that tensor ranks share",
    [TRAINING_CHOOSE_CONTEXT] = "context divides the ranks and the tokens of a sample, of layers that say 'context'",
    [TRAINING_CHOOSE_DATA] = "data divides the ranks and the samples",
    [TRAINING_CHOOSE_PIPELINE] = "pipeline divides the ranks, and is at most the number of layers",
    [TRAINING_CHOOSE_EXPERT] = "expert divides context x data and the model's own degree, of layers with experts",
    [TRAINING_CHOOSE_CHUNKS] = "pipeline x chunks is at most the number of layers, and pipeline that of micro-batches",
    [TRAINING_CHOOSE_BATCH] = "a micro-batch divides the samples of a replica",
    [TRAINING_CHOOSE_ZERO] = "ZeRO needs several replicas",
    [TRAINING_CHOOSE_RECOMPUTE] = "selective needs layers that say what it computes again"};

const char *training_layout_obstacle(const struct training_model *m)
{
    for (uint32_t i = 0; i < m->layers; i++) {
        if (m->layer[i].forward_ps)
            return "has layers with times, which belong to one layout: say 'flops' or 'products' instead";
    }
    return NULL;
}

struct training_layout training_layout_of(const struct training_model *m)
{
    struct training_layout l = {.expert = m->expert,
                                .chunks = m->chunks,
                                .batch = training_micro_samples(m),
                                .zero = m->zero,
                                .recompute = m->recompute};
    memcpy(l.parallel, m->parallel, sizeof l.parallel);
    memcpy(l.order, m->order, sizeof l.order);
    return l;
}

bool training_layout_has_shares(const struct training_layout *a, const struct training_layout *b)
{
    return memcmp(a->parallel, b->parallel, sizeof a->parallel) == 0 && a->expert == b->expert &&
           a->chunks == b->chunks && a->batch == b->batch && a->zero == b->zero && a->recompute == b->recompute;
}

/* ---- whether it divides ---- */

static bool is_shared(const struct training_layer *l)
{
    return l->shard != TRAINING_WHOLE && l->shard != TRAINING_TABLES;
}

/* Whether so many tensor ranks share a layer in whole parts. */
static bool tensor_divides(const struct training_model *m, const struct training_layer *l, uint32_t tensor)
{
    if (!is_shared(l))
        return true;
    if (l->shard == TRAINING_SPACE && (tensor & (tensor - 1)))
        return false;
    for (uint32_t i = 0; i < l->products; i++) {
        const struct training_product *p = &m->product[l->product + i];
        const uint64_t size[] = {p->m, p->n, p->k, p->times};
        if (p->divided != TRAINING_UNDIVIDED && size[p->divided] % tensor)
            return false;
    }
    return l->products || l->activations % tensor == 0;
}

static bool all_tensor_divide(const struct training_model *m, uint32_t tensor)
{
    bool any = false;
    for (uint32_t i = 0; i < m->layers; i++) {
        any = any || is_shared(&m->layer[i]);
        if (!tensor_divides(m, &m->layer[i], tensor))
            return false;
    }
    return any || tensor == 1;
}

static bool context_divides(const struct training_model *m, uint32_t context)
{
    bool any = false;
    for (uint32_t i = 0; i < m->layers; i++)
        any = any || m->layer[i].context;
    return context == 1 || (any && m->sample_tokens % context == 0);
}

static bool expert_divides(const struct training_model *m, uint32_t expert, uint64_t replicas)
{
    bool any = false;
    for (uint32_t i = 0; i < m->layers; i++)
        any = any || m->layer[i].shard == TRAINING_EXPERTS;
    return expert == 1 || (any && replicas % expert == 0 && m->expert % expert == 0);
}

static bool selective_is_said(const struct training_model *m)
{
    bool any = false;
    for (uint32_t i = 0; i < m->products; i++)
        any = any || m->product[i].recomputed;
    for (uint32_t i = 0; i < m->layers; i++)
        any = any || m->layer[i].recomputed || m->layer[i].recomputed_moved;
    return any;
}

/* Whether micro-batches, chunks and ZeRO of a layout are possible with its axes. */
static bool counts_divide(const struct training_model *m, const struct training_layout *l)
{
    const uint64_t replicas = (uint64_t)l->parallel[TRAINING_CONTEXT] * l->parallel[TRAINING_DATA];
    const uint32_t stages = l->parallel[TRAINING_PIPELINE];
    const uint64_t each = schedule_multiply(l->parallel[TRAINING_DATA], l->batch);
    if (m->samples % each || m->samples / each > TRAINING_MOST_PASSES / m->layers)
        return false;
    if (l->chunks > 1 && (stages == 1 || m->samples / each < stages))
        return false;
    return (uint64_t)stages * l->chunks <= m->layers && (l->zero == 0 || replicas > 1);
}

/* ---- a model in a layout ---- */

uint32_t *training_layout_stages(const struct training_model *m)
{
    struct training_stages s;
    struct hx_problem problem;
    if (!training_stages_make(&s, m, &problem))
        return NULL;
    uint32_t *stage = hx_allocate(m->layers, sizeof *stage);
    for (uint32_t v = 0; v < s.count; v++) {
        for (uint32_t i = s.first[v]; i < s.first[v + 1]; i++)
            stage[i] = v;
    }
    training_stages_free(&s);
    return stage;
}

void training_layout_apply(struct training_model *to, const struct training_model *m, const struct training_layout *l)
{
    *to = *m;
    memcpy(to->parallel, l->parallel, sizeof to->parallel);
    memcpy(to->order, l->order, sizeof to->order);
    to->expert = l->expert;
    to->chunks = l->chunks;
    to->micro_batches = (uint32_t)(m->samples / l->parallel[TRAINING_DATA] / l->batch);
    to->pipeline = l->chunks > 1 ? TRAINING_INTERLEAVED : TRAINING_1F1B;
    to->zero = l->zero;
    to->recompute = l->recompute;
    to->sequence = l->parallel[TRAINING_TENSOR] > 1;
    to->stage_of = NULL;
}

/* ---- all layouts ---- */

struct search {
    const struct training_model *m;
    const struct training_choices *choices;
    training_layout_take *take;
    void *of;
    struct training_layout l; /* what is chosen so far */
    uint32_t left;            /* ranks that no axis has yet */
    bool selective;           /* selective recomputation is said */
};

static bool is_allowed(const struct search *s, enum training_choice choice, uint64_t value)
{
    for (unsigned i = 0; i < s->choices->values[choice]; i++) {
        if (s->choices->value[choice][i] == value)
            return true;
    }
    return s->choices->values[choice] == 0;
}

static void choose_rest(struct search *s)
{
    for (s->l.zero = 0; s->l.zero <= 3; s->l.zero++) {
        for (unsigned recompute = 0; recompute <= TRAINING_RECOMPUTE_FULL; recompute++) {
            s->l.recompute = (enum training_recompute)recompute;
            const bool is_said = recompute != TRAINING_RECOMPUTE_SELECTIVE || s->selective;
            if (is_said && is_allowed(s, TRAINING_CHOOSE_ZERO, s->l.zero) &&
                is_allowed(s, TRAINING_CHOOSE_RECOMPUTE, recompute) && counts_divide(s->m, &s->l))
                s->take(s->of, &s->l);
        }
    }
}

static void choose_chunks(struct search *s)
{
    const uint32_t most = s->choices->values[TRAINING_CHOOSE_CHUNKS] ? s->m->layers : TRAINING_LARGEST_CHUNKS;
    for (s->l.chunks = 1; s->l.chunks <= most; s->l.chunks++) {
        if (is_allowed(s, TRAINING_CHOOSE_CHUNKS, s->l.chunks))
            choose_rest(s);
    }
}

static void take_batch(struct search *s, uint64_t batch)
{
    s->l.batch = batch;
    if (is_allowed(s, TRAINING_CHOOSE_BATCH, batch))
        choose_chunks(s);
}

/* Each divisor of the samples of a replica, the least first. */
static void choose_batch(struct search *s)
{
    const uint64_t samples = s->m->samples / s->l.parallel[TRAINING_DATA];
    uint64_t i = 1;
    for (; i * i <= samples; i++) {
        if (samples % i == 0)
            take_batch(s, i);
    }
    for (i--; i > 0; i--) {
        if (samples % i == 0 && i * i != samples)
            take_batch(s, samples / i);
    }
}

static void choose_expert(struct search *s)
{
    const uint64_t replicas = (uint64_t)s->l.parallel[TRAINING_CONTEXT] * s->l.parallel[TRAINING_DATA];
    for (s->l.expert = 1; s->l.expert <= s->m->expert; s->l.expert++) {
        if (expert_divides(s->m, s->l.expert, replicas) && is_allowed(s, TRAINING_CHOOSE_EXPERT, s->l.expert))
            choose_batch(s);
    }
}

static bool axis_divides(const struct training_model *m, enum training_axis axis, uint32_t degree)
{
    if (axis == TRAINING_TENSOR)
        return all_tensor_divide(m, degree);
    return axis == TRAINING_CONTEXT ? context_divides(m, degree)
                                    : axis == TRAINING_PIPELINE || m->samples % degree == 0;
}

/* Chooses an axis and those after it; data parallelism has the ranks that are left. */
static void choose_axis(struct search *s, unsigned number)
{
    static const enum training_axis order[] = {TRAINING_TENSOR, TRAINING_CONTEXT, TRAINING_PIPELINE, TRAINING_DATA};
    const enum training_axis axis = order[number];
    const uint32_t left = s->left;
    for (uint32_t degree = axis == TRAINING_DATA ? left : 1; degree <= left; degree++) {
        if (left % degree || !is_allowed(s, (enum training_choice)axis, degree) || !axis_divides(s->m, axis, degree))
            continue;
        s->l.parallel[axis] = degree;
        s->left = left / degree;
        if (axis != TRAINING_DATA)
            choose_axis(s, number + 1);
        else
            choose_expert(s);
    }
    s->left = left;
}

void training_layout_each(const struct training_model *m, uint32_t ranks, const struct training_choices *choices,
                          training_layout_take *take, void *of)
{
    struct search s = {
        .m = m, .choices = choices, .take = take, .of = of, .left = ranks, .selective = selective_is_said(m)};
    memcpy(s.l.order, m->order, sizeof s.l.order);
    choose_axis(&s, 0);
}

/* ---- text ---- */

__attribute__((format(printf, 3, 4))) static void add(char text[TRAINING_LAYOUT_TEXT], bool is_said, const char *format,
                                                      ...)
{
    const size_t used = strlen(text);
    va_list values;
    if (!is_said || used >= TRAINING_LAYOUT_TEXT)
        return;
    va_start(values, format);
    (void)vsnprintf(text + used, TRAINING_LAYOUT_TEXT - used, format, values);
    va_end(values);
}

const char *training_layout_text(char text[TRAINING_LAYOUT_TEXT], const struct training_layout *l)
{
    text[0] = '\0';
    for (unsigned i = 0; i < TRAINING_AXES; i++) {
        const enum training_axis axis = l->order[i];
        add(text, l->parallel[axis] > 1, "%s %" PRIu32, training_axis_names[axis], l->parallel[axis]);
        add(text, axis == TRAINING_PIPELINE && l->chunks > 1, " x %" PRIu32, l->chunks);
        add(text, l->parallel[axis] > 1, ", ");
    }
    add(text, l->expert > 1, "expert %" PRIu32 ", ", l->expert);
    add(text, true, "batch %" PRIu64, l->batch);
    add(text, l->zero > 0, ", ZeRO %u", l->zero);
    add(text, l->recompute == TRAINING_RECOMPUTE_SELECTIVE, ", recompute selective");
    add(text, l->recompute == TRAINING_RECOMPUTE_FULL, ", recompute");
    return text;
}
