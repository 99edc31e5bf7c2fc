/* search.c - estimates candidates in the order of their bounds (plan.h). */
#include "base/blobs.h"
#include "base/progress.h"
#include "schedule/training/memory.h"
#include "tools/child.h"
#include "tools/plan/plan.h"
#include "tools/train/fabrics.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

const char PLAN_FOLD[] = "fold";

/* ---- one candidate ---- */

/* Bytes of the fullest stage. */
static uint64_t memory_of(const struct training_model *m)
{
    struct hx_problem problem;
    struct training_memory *stage = hx_allocate(m->parallel[TRAINING_PIPELINE], sizeof *stage);
    uint64_t bytes = UINT64_MAX;
    if (training_memory_find(m, stage, &problem))
        bytes = stage[training_memory_most(m, stage)].total;
    free(stage);
    return bytes;
}

/* A candidate that is to be estimated: its model has the stages of its shape. */
struct trial {
    struct plan_candidate candidate;
    struct training_model model;
    uint64_t bytes;
    bool good;
    struct hx_problem problem; /* if it cannot be estimated */
    struct train_estimate estimate;
};

static void estimate(const struct plan *p, struct trial *t)
{
    struct train_job job = {.path = p->train->job.path, .quiet = true, .memory = p->memory};
    struct hx_settings settings = p->fabric->settings;
    settings.place = t->candidate.place;
    train_job_take_model(&job, &t->model);
    t->good = train_estimate_make(&t->estimate, &job, &p->fabric->spec, &settings, &p->fabric->injected.timing, NULL,
                                  &t->problem);
}

/* ---- a batch on all processors ---- */

struct batch {
    const struct plan *plan;
    struct trial *trial;
    unsigned count;
    atomic_uint next;
};

static void *work(void *of)
{
    struct batch *b = of;
    for (unsigned i = b->next++; i < b->count; i = b->next++)
        estimate(b->plan, &b->trial[i]);
    return NULL;
}

static void estimate_batch(const struct plan *p, struct trial *trial, unsigned count)
{
    struct batch b = {.plan = p, .trial = trial, .count = count};
    pthread_t thread[PLAN_BATCH];
    unsigned threads = 0;
    while (threads + 1 < p->workers && threads + 1 < count && pthread_create(&thread[threads], NULL, work, &b) == 0)
        threads++;
    (void)work(&b);
    for (unsigned i = 0; i < threads; i++)
        (void)pthread_join(thread[i], NULL);
}

/* ---- results ---- */

/* Iterations that differ by less than about a thousandth are as long as each other. */
static double rounded(double seconds)
{
    return floor(1000 * log(seconds));
}

static int by_seconds(const void *a, const void *b)
{
    const struct plan_result *one = a, *other = b;
    if (rounded(one->seconds) != rounded(other->seconds))
        return one->seconds < other->seconds ? -1 : 1;
    if (one->bytes != other->bytes)
        return one->bytes < other->bytes ? -1 : 1;
    return one->candidate.number < other->candidate.number ? -1 : one->candidate.number > other->candidate.number;
}

static void take(struct plan *p, struct trial *t)
{
    const double iterations = (double)p->model->iterations;
    p->counts.estimated++;
    if (!t->good) {
        p->problem = t->problem;
        p->counts.failed++;
        return;
    }
    p->result = hx_grow(p->result, p->results, &p->results_room, sizeof *p->result);
    p->result[p->results++] = (struct plan_result){.candidate = t->candidate,
                                                   .bytes = t->bytes,
                                                   .seconds = t->estimate.seconds / iterations,
                                                   .ideal = t->estimate.ideal / iterations,
                                                   .computing = t->estimate.computing / iterations,
                                                   .spent = t->estimate.spent};
}

static void carry_out(struct plan *p, struct trial *trial, unsigned count)
{
    estimate_batch(p, trial, count);
    for (unsigned i = 0; i < count; i++)
        take(p, &trial[i]);
    qsort(p->result, p->results, sizeof *p->result, by_seconds);
}

/* ---- families ---- */

/* Candidates with the same axes and ZeRO stage, the least bound first: their estimates are about the same multiple of
 * their bounds. */
struct family {
    size_t *member; /* numbers of candidates */
    size_t members, room;
    size_t next;  /* first member that has not been looked at */
    double ratio; /* least estimate over bound so far, 1 and up; 0: none yet */
};

struct search {
    struct plan *plan;
    struct family *family; /* the least bound first */
    size_t families, room;
    struct trial trial[PLAN_BATCH];
    struct family *of[PLAN_BATCH]; /* family of each trial */
    unsigned trials;
    struct hx_blobs shapes; /* layouts of one shape have their layers divided alike */
    uint32_t **stage_of;    /* of each: division */
    size_t shapes_room;
    struct hx_progress bar;
    const char *name; /* of the fabric */
};

/* What the division of layers depends on. */
struct shape {
    uint32_t tensor, context, pipeline, chunks, expert, recompute;
    uint64_t batch, micro_batches;
};

static bool is_alike(const struct training_layout *a, const struct training_layout *b)
{
    return memcmp(a->parallel, b->parallel, sizeof a->parallel) == 0 && a->zero == b->zero && a->expert == b->expert;
}

/* Sorts candidates into families. */
static void find_families(struct search *s)
{
    const struct plan *p = s->plan;
    for (size_t i = 0; i < p->candidates; i++) {
        size_t at = 0;
        while (at < s->families && !is_alike(&p->candidate[s->family[at].member[0]].layout, &p->candidate[i].layout))
            at++;
        if (at == s->families) {
            s->family = hx_grow(s->family, s->families, &s->room, sizeof *s->family);
            s->family[s->families++] = (struct family){.members = 0};
        }
        struct family *f = &s->family[at];
        f->member = hx_grow(f->member, f->members, &f->room, sizeof *f->member);
        f->member[f->members++] = i;
    }
}

static void free_search(struct search *s)
{
    for (size_t i = 0; i < s->shapes.count; i++)
        free(s->stage_of[i]);
    free(s->stage_of);
    hx_blobs_free(&s->shapes);
    for (size_t i = 0; i < s->families; i++)
        free(s->family[i].member);
    free(s->family);
}

/* ---- the order of candidates ---- */

/* Layouts that may be so much slower than the best are estimated, too: the table has those behind it. */
#define BEHIND 1.05

static double best_of(const struct plan *p)
{
    return p->results ? p->result[0].seconds : INFINITY;
}

/* Seconds below which a candidate is worth an estimate. */
static double limit_of(const struct plan *p)
{
    return BEHIND * best_of(p);
}

/* Divides the layers of a model among stages, as those of any other layout of this shape. */
static void divide_layers(struct search *s, struct training_model *m)
{
    const struct shape shape = {m->parallel[TRAINING_TENSOR],
                                m->parallel[TRAINING_CONTEXT],
                                m->parallel[TRAINING_PIPELINE],
                                m->chunks,
                                m->expert,
                                m->recompute,
                                training_micro_samples(m),
                                m->micro_batches};
    const size_t known = s->shapes.count;
    const uint32_t number = hx_blobs_add(&s->shapes, &shape, sizeof shape);
    if (number == known) {
        s->stage_of = hx_grow(s->stage_of, known, &s->shapes_room, sizeof(*s->stage_of));
        s->stage_of[number] = training_layout_stages(m);
    }
    m->stage_of = s->stage_of[number];
}

/* Divides a candidate into stages, with a closer bound. Returns false if it does not fit, or if its bound is not below
 * the best. */
static bool divide(struct search *s, struct plan_candidate *c, struct trial *t)
{
    struct plan *p = s->plan;
    *t = (struct trial){.candidate = *c};
    training_layout_apply(&t->model, p->model, &c->layout);
    divide_layers(s, &t->model);
    t->bytes = memory_of(&t->model);
    p->counts.tried++;
    if (p->model->memory && t->bytes > p->model->memory) {
        p->counts.unfit++;
        p->counts.least = t->bytes < p->counts.least ? t->bytes : p->counts.least;
        c->bound = INFINITY;
    } else {
        c->bound = t->candidate.bound = fmax(c->bound, plan_bound(p, &t->model));
    }
    return c->bound < limit_of(p);
}

static void show(struct search *s)
{
    const struct plan *p = s->plan;
    char note[192];
    (void)snprintf(note, sizeof note, ", %s: %" PRIu64 " layouts estimated, the best %.4g s", s->name,
                   p->counts.estimated, best_of(p));
    hx_progress_show(&s->bar, 0.9 * fmin(1, (double)p->counts.estimated / (double)p->most_estimates), note);
}

/* Estimates the trials that have been collected, and learns the ratios of their families. */
static void carry_out_batch(struct search *s)
{
    struct plan *p = s->plan;
    carry_out(p, s->trial, s->trials);
    for (unsigned i = 0; i < s->trials; i++) {
        const struct trial *t = &s->trial[i];
        const double seconds = t->estimate.seconds / (double)p->model->iterations;
        const double ratio = t->good ? fmax(1, seconds / t->candidate.bound) : 1;
        s->of[i]->ratio = s->of[i]->ratio > 0 ? fmin(s->of[i]->ratio, ratio) : ratio;
    }
    s->trials = 0;
    show(s);
}

static bool may_go_on(const struct search *s, double share)
{
    return (double)(s->plan->counts.estimated + s->trials) < share * (double)s->plan->most_estimates &&
           !child_interrupted();
}

/* Collects a trial: the next member of a family that fits, with a bound times `ratio` below the best. */
static void collect(struct search *s, struct family *f, double ratio)
{
    struct plan *p = s->plan;
    while (f->next < f->members && !child_interrupted()) {
        struct plan_candidate *c = &p->candidate[f->member[f->next]];
        if (c->bound * ratio >= limit_of(p))
            return;
        f->next++;
        if (!divide(s, c, &s->trial[s->trials]) || c->bound * ratio >= limit_of(p))
            continue;
        c->estimated = true;
        s->of[s->trials++] = f;
        return;
    }
}

/* Share of the estimates for first members. */
#define REPRESENTED 0.6

/* Estimates the first member of each family. */
static void represent(struct search *s)
{
    for (size_t i = 0; i < s->families && may_go_on(s, REPRESENTED); i++) {
        collect(s, &s->family[i], 1);
        if (s->trials == PLAN_BATCH)
            carry_out_batch(s);
    }
    carry_out_batch(s);
}

/* The family of which the next member has the least bound times ratio, if that is below the best. */
static struct family *most_promising(const struct search *s)
{
    struct family *best = NULL;
    double least = limit_of(s->plan);
    for (size_t i = 0; i < s->families; i++) {
        struct family *f = &s->family[i];
        if (f->next == f->members)
            continue;
        const double seconds = s->plan->candidate[f->member[f->next]].bound * fmax(1, f->ratio);
        if (seconds < least) {
            least = seconds;
            best = f;
        }
    }
    return best;
}

static void improve(struct search *s)
{
    struct family *f = NULL;
    while (may_go_on(s, 1) && (f = most_promising(s)) != NULL) {
        collect(s, f, fmax(1, f->ratio));
        if (s->trials == PLAN_BATCH)
            carry_out_batch(s);
    }
    carry_out_batch(s);
}

/* Candidates that are not estimated, with a bound below the best. */
static uint64_t count_open(const struct plan *p)
{
    uint64_t open = 0;
    for (size_t i = 0; i < p->candidates; i++)
        open += !p->candidate[i].estimated && p->candidate[i].bound < best_of(p);
    return open;
}

/* ---- orders and placements ---- */

/* Trials of the best layouts with their axes in other orders, and ranks in linear order. */
enum { REFINED = 2, FOLLOWERS = 12, MOST_ORDERS = 24 };

static bool is_used(const struct training_layout *l, enum training_axis axis)
{
    return l->parallel[axis] > 1;
}

/* The number-th order of axes: those that are used, permuted among their places. Returns false behind the last. */
static bool order_axes(const struct training_layout *l, unsigned number, enum training_axis order[TRAINING_AXES])
{
    enum training_axis used[TRAINING_AXES];
    unsigned count = 0;
    unsigned orders = 1;
    for (unsigned i = 0; i < TRAINING_AXES; i++) {
        if (is_used(l, l->order[i]))
            used[count++] = l->order[i];
    }
    for (unsigned i = 2; i <= count; i++)
        orders *= i;
    if (number >= orders)
        return false;
    for (unsigned i = 0; i < TRAINING_AXES; i++) {
        order[i] = l->order[i];
        if (!is_used(l, l->order[i]))
            continue;
        orders /= count;
        const unsigned pick = number / orders;
        number %= orders;
        order[i] = used[pick];
        memmove(&used[pick], &used[pick + 1], (--count - pick) * sizeof *used);
    }
    return true;
}

/* Makes a trial of a result with another order and placement. Returns false if they are its own. */
static bool vary_as(struct search *s, const struct plan_result *r, const enum training_axis order[TRAINING_AXES],
                    const char *place, struct trial *t)
{
    *t = (struct trial){.candidate = r->candidate, .bytes = r->bytes};
    t->candidate.place = place;
    memcpy(t->candidate.layout.order, order, sizeof t->candidate.layout.order);
    if (place == r->candidate.place && memcmp(order, r->candidate.layout.order, sizeof r->candidate.layout.order) == 0)
        return false;
    training_layout_apply(&t->model, s->plan->model, &t->candidate.layout);
    divide_layers(s, &t->model);
    return true;
}

/* Fills trials with a layout's orders and placements but its own. Returns their number. */
static unsigned vary(struct search *s, const struct plan_result *r, struct trial trial[2 * MOST_ORDERS])
{
    const char *const places[] = {PLAN_FOLD, NULL};
    const bool may_place = s->plan->ranks > 1 && train_may_place(s->plan->fabric);
    enum training_axis order[TRAINING_AXES];
    unsigned count = 0;
    for (unsigned i = 0; i < (may_place ? 2 : 1); i++) {
        for (unsigned number = 0; order_axes(&r->candidate.layout, number, order); number++)
            count += vary_as(s, r, order, may_place ? places[i] : r->candidate.place, &trial[count]);
    }
    return count;
}

/* Estimates variants of layouts that have been estimated. */
static void carry_out_variants(struct search *s, struct trial *trial, unsigned all)
{
    struct plan *p = s->plan;
    const uint64_t estimated = p->counts.estimated;
    for (unsigned first = 0; first < all && !child_interrupted(); first += PLAN_BATCH) {
        carry_out(p, trial + first, all - first < PLAN_BATCH ? all - first : PLAN_BATCH);
        show(s);
    }
    p->counts.varied += p->counts.estimated - estimated;
    p->counts.estimated = estimated;
}

/* The first results of different shares. Returns how many. */
static unsigned first_results(const struct plan *p, unsigned most, struct plan_result *to)
{
    unsigned count = 0;
    for (size_t i = 0; i < p->results && count < most; i++) {
        if (plan_is_first(p, i))
            to[count++] = p->result[i];
    }
    return count;
}

/* Estimates other orders and placements of the best layouts; then those behind them as the best one is. */
static void refine(struct search *s)
{
    struct plan_result best[FOLLOWERS];
    struct trial *trial = hx_allocate((size_t)2 * MOST_ORDERS, sizeof *trial);
    const unsigned count = first_results(s->plan, REFINED, best);
    for (unsigned i = 0; i < count; i++)
        carry_out_variants(s, trial, vary(s, &best[i], trial));
    const unsigned followers = first_results(s->plan, FOLLOWERS, best);
    unsigned some = 0;
    for (unsigned i = 1; i < followers; i++)
        some += vary_as(s, &best[i], best[0].candidate.layout.order, best[0].candidate.place, &trial[some]);
    carry_out_variants(s, trial, some);
    free(trial);
}

/* ---- all ---- */

void plan_search(struct plan *p, const char *fabric)
{
    struct search s = {.plan = p, .bar = hx_progress_start("plan", p->train->quiet), .name = fabric};
    p->memory = network_memory_new();
    p->counts.least = UINT64_MAX;
    find_families(&s);
    represent(&s);
    improve(&s);
    p->counts.open = count_open(p);
    if (p->results && !child_interrupted())
        refine(&s);
    network_memory_free(p->memory);
    p->interrupted = child_interrupted();
    free_search(&s);
    hx_progress_end(&s.bar);
}

void plan_free(struct plan *p)
{
    for (size_t i = 0; i < p->results; i++)
        spent_free(&p->result[i].spent);
    HX_FREE(p->candidate, p->result);
}
