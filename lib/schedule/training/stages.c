/* stages.c - divides layers among pipeline stages (stages.h). */
#include "schedule/training/stages.h"

#include <inttypes.h>
#include <stdlib.h>

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

/* Each cut at the first layer behind which the rest fits into the stages that are left, with a layer for each. */
static void cut(struct training_stages *s, const struct training_model *m)
{
    uint64_t *before = hx_allocate(m->layers + 1U, sizeof *before);
    uint32_t *need = hx_allocate(m->layers + 1U, sizeof *need);
    for (uint32_t i = 0; i < m->layers; i++)
        before[i + 1] = before[i] + training_forward_ps(m, &m->layer[i]) + training_backward_ps(m, &m->layer[i]);
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
    for (uint32_t i = m->layers; m->stage_of && i-- > 0;)
        s->first[m->stage_of[i]] = i;
    return true;
}

void training_stages_free(struct training_stages *s)
{
    free(s->first);
    *s = (struct training_stages){0};
}
