/* stages.c - divides layers among pipeline stages (stages.h). */
#include "schedule/training/stages.h"
#include "base/rng.h"
#include "schedule/training/pipeline.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The least number of stages of at most `most` ps that hold all layers from each one on. need[layers] is 0. */
static void count_needed(const struct training_model *m, const uint64_t *before, uint64_t most, uint32_t *need)
{
    uint32_t end = m->layers;
    need[m->layers] = 0;
    for (uint32_t from = m->layers; from-- > 0;) {
        while (before[end] - before[from] > most)
            end--;
        need[from] = need[end] + 1;
    }
}

/* The least time of the longest stage. before[i]: time of all layers before the i-th. */
static uint64_t least_time(const struct training_model *m, const uint64_t *before, uint32_t count, uint32_t *need)
{
    uint64_t low = 0;
    uint64_t high = before[m->layers];
    for (uint32_t i = 0; i < m->layers; i++)
        low = before[i + 1] - before[i] > low ? before[i + 1] - before[i] : low;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        count_needed(m, before, middle, need);
        if (need[0] <= count)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Returns [layers + 1]: the time of all layers before the i-th, which the caller frees. */
static uint64_t *layers_before(const struct training_model *m)
{
    uint64_t *before = hx_allocate(m->layers + 1U, sizeof *before);
    for (uint32_t i = 0; i < m->layers; i++)
        before[i + 1] = before[i] + training_forward_ps(m, &m->layer[i]) + training_backward_ps(m, &m->layer[i]);
    return before;
}

/* Each cut at the first layer behind which the rest fits into the stages that are left, with a layer for each. */
static void cut(struct training_stages *s, const struct training_model *m)
{
    uint64_t *before = layers_before(m);
    uint32_t *need = hx_allocate(m->layers + 1U, sizeof *need);
    count_needed(m, before, least_time(m, before, s->count, need), need);
    for (uint32_t v = 0; v + 1 < s->count; v++) {
        uint32_t left = s->count - v - 1;
        uint32_t at = s->first[v] + 1;
        while (need[at] > left)
            at++;
        s->first[v + 1] = at;
    }
    HX_FREE(before, need);
}

/* ---- several chunks ---- */

enum { MOST_SEARCHED = 128 /* virtual stages */, SEARCH_EFFORT = 4096 };

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* What a division costs, the most important first. */
struct cost {
    uint64_t first, second;       /* ps */
    double of_stages, of_virtual; /* sums of squares, s^2 */
};

/* A division that is searched for. */
struct search {
    const uint64_t *before; /* [layers + 1] */
    uint32_t *first;        /* [count + 1] */
    uint32_t count, stages;
    bool virtual_first; /* the longest virtual stage counts before the longest stage */
    uint64_t *of_stage; /* [stages]: work space */
};

static struct cost cost_of(const struct search *s)
{
    struct cost c = {0, 0, 0, 0};
    uint64_t longest = 0, longest_virtual = 0;
    for (uint32_t stage = 0; stage < s->stages; stage++)
        s->of_stage[stage] = 0;
    for (uint32_t v = 0, stage = 0; v < s->count; v++, stage = stage + 1 < s->stages ? stage + 1 : 0) {
        const uint64_t ps = s->before[s->first[v + 1]] - s->before[s->first[v]];
        s->of_stage[stage] += ps;
        longest_virtual = larger(longest_virtual, ps);
        c.of_virtual += 1e-24 * (double)ps * (double)ps;
    }
    for (uint32_t stage = 0; stage < s->stages; stage++) {
        const double seconds = 1e-12 * (double)s->of_stage[stage];
        longest = larger(longest, s->of_stage[stage]);
        c.of_stages += seconds * seconds;
    }
    c.first = s->virtual_first ? longest_virtual : longest;
    c.second = s->virtual_first ? longest : longest_virtual;
    return c;
}

static bool is_cheaper(const struct cost *a, const struct cost *b)
{
    if (a->first != b->first)
        return a->first < b->first;
    if (a->second != b->second)
        return a->second < b->second;
    if (a->of_stages < b->of_stages * (1 - 1e-12) || b->of_stages < a->of_stages * (1 - 1e-12))
        return a->of_stages < b->of_stages;
    return a->of_virtual < b->of_virtual * (1 - 1e-12);
}

/* Moves cuts low .. high by a layer, so virtual stage low - 1 gets one and high loses one, or the other way. Returns
 * false if a virtual stage would have none. */
static bool move_cuts(struct search *s, uint32_t low, uint32_t high, bool later)
{
    const uint32_t giver = later ? high : low - 1;
    if (s->first[giver + 1] - s->first[giver] < 2)
        return false;
    for (uint32_t v = low; v <= high; v++)
        s->first[v] += later ? 1U : UINT32_MAX;
    return true;
}

/* Makes the move that saves most. Returns false if none saves anything. */
static bool improve(struct search *s, struct cost *best)
{
    uint32_t low = 0;
    uint32_t high = 0;
    bool later = false;
    for (uint32_t i = 1; i < s->count; i++) {
        for (uint32_t j = i; j < s->count; j++) {
            for (unsigned try_later = 0; try_later < 2; try_later++) {
                if (!move_cuts(s, i, j, try_later))
                    continue;
                const struct cost c = cost_of(s);
                (void)move_cuts(s, i, j, !try_later);
                if (!is_cheaper(&c, best))
                    continue;
                *best = c;
                low = i;
                high = j;
                later = try_later;
            }
        }
    }
    return low && move_cuts(s, low, high, later);
}

/* A random division: layers beyond one for each virtual stage go where they are drawn. */
static void draw(struct search *s, uint32_t layers, uint64_t *random)
{
    uint32_t *more = hx_allocate(s->count, sizeof *more);
    for (uint32_t i = s->count; i < layers; i++)
        more[hx_rng_below(random, s->count)]++;
    for (uint32_t v = 0; v < s->count; v++)
        s->first[v + 1] = s->first[v] + 1 + more[v];
    free(more);
}

/* Improves the division of `from`, and random ones, and puts the best into `to`. */
static void search_for(struct search *s, uint32_t layers, const uint32_t *from, uint32_t *to)
{
    const uint32_t begins = 2 + SEARCH_EFFORT / (s->count * s->count);
    struct cost best = {UINT64_MAX, 0, 0, 0};
    uint64_t random = 1;
    memcpy(s->first, from, (s->count + 1U) * sizeof *from);
    for (uint32_t i = 0; i < begins; i++) {
        if (i > 0)
            draw(s, layers, &random);
        struct cost c = cost_of(s);
        while (improve(s, &c))
            ;
        if (!is_cheaper(&c, &best))
            continue;
        best = c;
        memcpy(to, s->first, (s->count + 1U) * sizeof *to);
    }
}

/* Time of an iteration with this division. */
static uint64_t time_of(const struct training_model *m, const uint32_t *first, uint32_t count)
{
    uint64_t *forward = hx_allocate(count, sizeof *forward);
    uint64_t *backward = hx_allocate(count, sizeof *backward);
    for (uint32_t v = 0; v < count; v++) {
        for (uint32_t i = first[v]; i < first[v + 1]; i++) {
            forward[v] += training_forward_ps(m, &m->layer[i]);
            backward[v] += training_backward_ps(m, &m->layer[i]);
        }
    }
    const uint64_t ps = training_pipeline_ps(m, forward, backward);
    HX_FREE(forward, backward);
    return ps;
}

static void balance_stages(struct training_stages *all, const struct training_model *m)
{
    const uint32_t stages = m->parallel[TRAINING_PIPELINE];
    uint64_t *before = layers_before(m);
    uint32_t *first = hx_allocate(all->count + 1U, sizeof *first);
    uint32_t *found = hx_allocate(2 * (all->count + 1U), sizeof *found);
    struct search s = {before, first, all->count, stages, false, hx_allocate(stages, sizeof *s.of_stage)};
    uint32_t *other = found + all->count + 1;
    search_for(&s, m->layers, all->first, found);
    s.virtual_first = true;
    search_for(&s, m->layers, all->first, other);
    const bool is_shorter = time_of(m, other, all->count) < time_of(m, found, all->count);
    memcpy(all->first, is_shorter ? other : found, (all->count + 1U) * sizeof *first);
    HX_FREE(before, first, found, s.of_stage);
}

/* ---- */

bool training_stages_make(struct training_stages *s, const struct training_model *m, struct hx_problem *problem)
{
    uint32_t count = m->parallel[TRAINING_PIPELINE] * m->chunks;
    *s = (struct training_stages){.count = count};
    if (m->layers < count)
        return hx_fail(problem, HX_EXIT_CONFIG, m->path,
                       "%" PRIu32 " layers for %" PRIu32 " stages (pipeline x chunks): each needs a layer", m->layers,
                       count);
    s->first = hx_allocate(count + 1U, sizeof *s->first);
    s->first[count] = m->layers;
    if (!m->stage_of)
        cut(s, m);
    if (!m->stage_of && m->chunks > 1 && count <= MOST_SEARCHED)
        balance_stages(s, m);
    for (uint32_t i = m->layers; m->stage_of && i-- > 0;)
        s->first[m->stage_of[i]] = i;
    return true;
}

void training_stages_free(struct training_stages *s)
{
    free(s->first);
    *s = (struct training_stages){0};
}
