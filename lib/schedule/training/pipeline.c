/* pipeline.c - orders of passes (pipeline.h). */
#include "schedule/training/pipeline.h"

#include <stdlib.h>

uint32_t training_passes(const struct training_model *m)
{
    return 2 * m->micro_batches * m->chunks;
}

/* Micro-batches that pass a chunk before the next chunk. */
static uint32_t group_of(const struct training_model *m)
{
    if (m->chunks == 1)
        return 1;
    uint32_t group = m->parallel[TRAINING_PIPELINE];
    while (group < m->micro_batches && m->micro_batches % group)
        group++;
    return group;
}

/* The n-th forward or backward pass. Backward passes take the chunks in opposite order. */
static struct training_pass nth(const struct training_model *m, uint32_t group, uint32_t n, bool backward)
{
    uint32_t chunk = n / group % m->chunks;
    struct training_pass pass = {.batch = n / (group * m->chunks) * group + n % group,
                                 .chunk = backward ? m->chunks - 1 - chunk : chunk,
                                 .backward = backward};
    if (backward && m->pipeline == TRAINING_GPIPE)
        pass.batch = m->micro_batches - 1 - pass.batch;
    return pass;
}

/* Forward passes before the first backward pass, the one that is in turn with it not counted. */
static uint32_t warm_up(const struct training_model *m, uint32_t group, uint32_t stage)
{
    uint32_t behind = m->parallel[TRAINING_PIPELINE] - 1 - stage;
    uint32_t all = m->micro_batches * m->chunks;
    uint32_t first = all;
    if (m->chunks > 1)
        first = 2 * behind + (m->chunks - 1) * group + m->pairs;
    else if (m->pairs)
        first = 2 * behind + 1;
    else if (m->pipeline != TRAINING_GPIPE)
        first = behind;
    return first < all ? first : all;
}

void training_pipeline_order(const struct training_model *m, uint32_t stage, struct training_pass *pass)
{
    uint32_t all = m->micro_batches * m->chunks;
    const uint32_t group = group_of(m);
    uint32_t first = warm_up(m, group, stage);
    for (uint32_t i = 0; i < first; i++)
        *pass++ = nth(m, group, i, false);
    for (uint32_t i = first; i < all; i++) {
        *pass = nth(m, group, i, false);
        pass++->pair = m->pairs;
        *pass++ = nth(m, group, i - first, true);
    }
    for (uint32_t i = all - first; i < all; i++)
        *pass++ = nth(m, group, i, true);
}

/* ---- time ---- */

enum { NOT_YET = 0 };

/* What is known of an iteration so far. Times are ends, ps, after 0; NOT_YET: a pass has not ended. */
struct timing {
    const struct training_model *m;
    const uint64_t *takes[2]; /* [virtual stages]: forward, backward */
    uint64_t *end[2];         /* [virtual stages x micro-batches] */
};

static uint64_t *end_of(const struct timing *t, uint32_t v, uint32_t batch, bool backward)
{
    return &t->end[backward][(size_t)v * t->m->micro_batches + batch];
}

/* Sets when the input of a pass is there; returns false if that is not known yet. */
static bool input_of(const struct timing *t, uint32_t v, const struct training_pass *pass, uint64_t *at)
{
    const uint32_t last = t->m->parallel[TRAINING_PIPELINE] * t->m->chunks - 1;
    *at = 1;
    if (pass->backward)
        *at = v == last ? *end_of(t, v, pass->batch, false) : *end_of(t, v + 1, pass->batch, true);
    else if (v > 0)
        *at = *end_of(t, v - 1, pass->batch, false);
    return *at != NOT_YET;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Ends one or two passes of a stage that is free from *free on. Returns false if an input is not known yet. */
static bool end_passes(const struct timing *t, uint32_t stage, const struct training_pass *pass, uint64_t *free)
{
    const unsigned count = pass->pair ? 2 : 1;
    uint64_t at[2] = {0, 0};
    uint32_t v[2] = {0, 0};
    for (unsigned i = 0; i < count; i++) {
        v[i] = pass[i].chunk * t->m->parallel[TRAINING_PIPELINE] + stage;
        if (!input_of(t, v[i], &pass[i], &at[i]))
            return false;
    }
    const unsigned first = count > 1 && later(at[1], *free) < later(at[0], *free);
    for (unsigned n = 0; n < count; n++) {
        const unsigned i = n ? !first : first;
        *free = later(*free, at[i]) + t->takes[pass[i].backward][v[i]];
        *end_of(t, v[i], pass[i].batch, pass[i].backward) = *free;
    }
    return true;
}

uint64_t training_pipeline_ps(const struct training_model *m, const uint64_t *forward, const uint64_t *backward)
{
    const uint32_t stages = m->parallel[TRAINING_PIPELINE];
    const size_t ends = (size_t)stages * m->chunks * m->micro_batches;
    struct timing t = {m, {forward, backward}, {NULL}};
    struct training_pass *pass = hx_allocate((size_t)stages * training_passes(m), sizeof *pass);
    uint32_t *done = hx_allocate(stages, sizeof *done);
    uint64_t *free_at = hx_allocate(stages, sizeof *free_at);
    uint64_t last = 1;
    t.end[0] = hx_allocate(ends, sizeof *t.end[0]);
    t.end[1] = hx_allocate(ends, sizeof *t.end[1]);
    for (uint32_t stage = 0; stage < stages; stage++) {
        training_pipeline_order(m, stage, &pass[(size_t)stage * training_passes(m)]);
        free_at[stage] = 1;
    }
    for (bool any = true; any;) {
        any = false;
        for (uint32_t stage = 0; stage < stages; stage++) {
            const struct training_pass *own = &pass[(size_t)stage * training_passes(m)];
            while (done[stage] < training_passes(m) && end_passes(&t, stage, &own[done[stage]], &free_at[stage])) {
                done[stage] += own[done[stage]].pair ? 2 : 1;
                any = true;
            }
            last = later(last, free_at[stage]);
        }
    }
    HX_FREE(pass, done, free_at, t.end[0], t.end[1]);
    return last - 1;
}
