/* candidates.c - layouts and bounds of their iterations (plan.h). */
#include "schedule/training/communication.h"
#include "schedule/training/memory.h"
#include "schedule/training/pipeline.h"
#include "schedule/training/stages.h"
#include "tools/plan/plan.h"
#include "tools/train/network.h"

#include <math.h>
#include <stdlib.h>

/* ---- seconds of a pass ---- */

/* Seconds that a host's links take for what a rank sends, at least. */
static double sending_seconds(const struct plan *p, const struct training_model *m,
                              const struct training_communication *c)
{
    const uint32_t size = training_group_size(m, c->group);
    const double bytes = c->halo ? (double)c->bytes * training_neighbours(m, c->group)
                                 : network_collective_bytes(c->kind, size, (double)c->bytes) / size;
    return bytes * 8e-9 / injection_total(&p->fabric->injected.injection);
}

/* A layer's forward and backward pass with what it sends, ps. In pairs communication may be hidden, and in splits
 * that of tensor ranks. */
static void add_layer(const struct plan *p, const struct training_model *m, uint32_t layer, uint64_t pass[2])
{
    const struct training_layer *l = &m->layer[layer];
    struct training_communication list[TRAINING_MOST_COMMUNICATIONS];
    const unsigned count = m->pairs ? 0 : training_communications(m, l, list);
    double sends[2] = {0, 0};
    for (unsigned i = 0; i < count; i++) {
        const enum training_moment moment = list[i].moment;
        if (moment <= TRAINING_AFTER_BACKWARD && training_parts(m, l, &list[i]) == 1)
            sends[moment >= TRAINING_BEFORE_BACKWARD] += sending_seconds(p, m, &list[i]);
    }
    if (training_repeats_forward(m, l))
        sends[1] += sends[0];
    pass[0] += training_forward_ps(m, l) + (uint64_t)(1e12 * sends[0]);
    pass[1] += training_backward_ps(m, l) + (uint64_t)(1e12 * sends[1]);
}

double plan_bound(const struct plan *p, const struct training_model *m)
{
    struct training_stages s;
    struct hx_problem problem;
    if (!training_stages_make(&s, m, &problem))
        return INFINITY;
    uint64_t *forward = hx_allocate(s.count, sizeof *forward);
    uint64_t *backward = hx_allocate(s.count, sizeof *backward);
    for (uint32_t v = 0; v < s.count; v++) {
        uint64_t pass[2] = {0, 0};
        for (uint32_t i = s.first[v]; i < s.first[v + 1]; i++)
            add_layer(p, m, i, pass);
        forward[v] = pass[0];
        backward[v] = pass[1];
    }
    const uint64_t ps = training_pipeline_ps(m, forward, backward);
    HX_FREE(forward, backward);
    training_stages_free(&s);
    return 1e-12 * (double)(ps + m->update_ps);
}

/* ---- bounds of all ---- */

/* What layouts with the same shares have in common. */
struct shares {
    uint32_t tensor, context, expert;
    uint64_t batch;
    bool known;
    double pass;              /* s of all layers, forward and backward */
    double computing;         /* of these, without communication */
    double dense, of_experts; /* elements of parameters at a rank, of all layers */
    double kept;              /* bytes of a micro-batch for its backward passes */
};

struct finding {
    struct plan *plan;
    struct shares shares[3]; /* by recomputation: layouts come with it last */
};

static struct shares shares_of(const struct plan *p, const struct training_layout *l)
{
    struct training_model m;
    struct shares s = {.tensor = l->parallel[TRAINING_TENSOR],
                       .context = l->parallel[TRAINING_CONTEXT],
                       .expert = l->expert,
                       .batch = l->batch,
                       .known = true};
    uint64_t pass[2] = {0, 0};
    uint64_t computing = 0;
    training_layout_apply(&m, p->model, l);
    m.parallel[TRAINING_PIPELINE] = 1; /* tied parameters count once: a bound for any number of stages */
    for (uint32_t i = 0; i < m.layers; i++) {
        const struct training_layer *layer = &m.layer[i];
        const double own = (double)training_untied_parameters(&m, layer);
        add_layer(p, &m, i, pass);
        computing += training_forward_ps(&m, layer) + training_backward_ps(&m, layer);
        s.dense += layer->shard == TRAINING_EXPERTS || layer->shard == TRAINING_TABLES ? 0 : own;
        s.of_experts += layer->shard == TRAINING_EXPERTS ? own : 0;
    }
    s.pass = 1e-12 * ((double)pass[0] + (double)pass[1]);
    s.computing = 1e-12 * (double)computing;
    s.kept = (double)training_memory_kept(&m);
    return s;
}

static const struct shares *find_shares(struct finding *f, const struct training_layout *l)
{
    struct shares *s = &f->shares[l->recompute];
    const bool same = s->known && s->tensor == l->parallel[TRAINING_TENSOR] &&
                      s->context == l->parallel[TRAINING_CONTEXT] && s->expert == l->expert && s->batch == l->batch;
    if (!same)
        *s = shares_of(f->plan, l);
    return s;
}

static double replicas_of(const struct training_layout *l)
{
    return (double)l->parallel[TRAINING_CONTEXT] * l->parallel[TRAINING_DATA];
}

static double batches_of(const struct plan *p, const struct training_layout *l)
{
    return (double)p->model->samples / l->parallel[TRAINING_DATA] / (double)l->batch;
}

/* Micro-batches that the first stage keeps, over those that all stages keep of one: pipeline.h. */
static double kept_at_once(const struct plan *p, const struct training_layout *l)
{
    const double stages = l->parallel[TRAINING_PIPELINE];
    const double passes = batches_of(p, l) * l->chunks;
    const double most = l->chunks > 1 ? 2 * (stages - 1) + (l->chunks - 1) * stages + 1 : stages;
    return fmin(passes, most) / l->chunks / stages;
}

/* Stages are not equal, so what holds of equal ones is no strict bound: it is taken with some room. */
#define ROOM        0.97
#define MEMORY_ROOM 0.9

/* Bytes of the fullest stage, at least. */
static double least_memory(const struct plan *p, const struct training_layout *l, const struct shares *s)
{
    const struct training_model *m = p->model;
    const double replicas = replicas_of(l);
    const double weights = m->parameter_bytes / (l->zero >= 3 ? replicas : 1);
    const double gradients = m->gradient_element_bytes / (l->zero >= 2 ? replicas : 1);
    const double optimizer = m->optimizer_bytes / (l->zero >= 1 ? replicas : 1);
    const double parameters = (s->dense + s->of_experts) / l->parallel[TRAINING_PIPELINE];
    return (double)m->reserved +
           MEMORY_ROOM * (parameters * (weights + gradients + optimizer) + kept_at_once(p, l) * s->kept);
}

/* Seconds that a host's links take for gradients and parameters of one group of replicas: as communication.h has them,
 * but by sums, since there are a hundred thousand layouts. */
static double data_seconds(const struct plan *p, const struct training_layout *l, double elements, double size)
{
    const struct training_model *m = p->model;
    const double batches = batches_of(p, l);
    const double gradients = m->gradient_element_bytes * (l->zero == 0 ? 2 : l->zero >= 2 ? batches : 1);
    const double parameters = m->parameter_bytes * (l->zero == 0 ? 0 : l->zero == 3 ? 2 * batches : 1);
    const double bytes = elements * (gradients + parameters) * (size - 1) / size / l->parallel[TRAINING_PIPELINE];
    return bytes * 8e-9 / injection_total(&p->fabric->injected.injection);
}

/* Seconds of an iteration of equal stages: passes with the bubble; or all that a host sends. */
static double bound_of(const struct plan *p, const struct training_layout *l, const struct shares *s)
{
    const double stages = l->parallel[TRAINING_PIPELINE];
    const double batches = batches_of(p, l);
    const double data =
        data_seconds(p, l, s->dense, replicas_of(l)) + data_seconds(p, l, s->of_experts, replicas_of(l) / l->expert);
    const double sends = (s->pass - s->computing) * batches / stages + data;
    const double passes = s->pass * (batches + (stages - 1) / l->chunks) / stages;
    return ROOM * fmax(passes, sends);
}

static void take(void *of, const struct training_layout *l)
{
    struct finding *f = of;
    struct plan *p = f->plan;
    const struct shares *s = find_shares(f, l);
    p->counts.layouts++;
    if (p->model->memory && least_memory(p, l, s) > (double)p->model->memory) {
        p->counts.too_large++;
        return;
    }
    p->candidate = hx_grow(p->candidate, p->candidates, &p->room, sizeof *p->candidate);
    p->candidate[p->candidates++] = (struct plan_candidate){
        .layout = *l, .place = p->fabric->settings.place, .number = p->counts.layouts, .bound = bound_of(p, l, s)};
}

static int by_bound(const void *a, const void *b)
{
    const struct plan_candidate *one = a, *other = b;
    if (one->bound != other->bound)
        return one->bound < other->bound ? -1 : 1;
    return one->number < other->number ? -1 : one->number > other->number;
}

void plan_find_candidates(struct plan *p)
{
    struct finding f = {.plan = p};
    training_layout_each(p->model, p->ranks, &p->choices, take, &f);
    if (p->candidates)
        qsort(p->candidate, p->candidates, sizeof *p->candidate, by_bound);
}
