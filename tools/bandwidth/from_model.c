/* from_model.c - needs of a model (tools/bandwidth/from_model.h). */
#include "tools/bandwidth/from_model.h"
#include "schedule/training/stages.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PS 1e-12

struct taking {
    struct bandwidth_work *w;
    const struct training_model *m;
    const struct bandwidth_network *n;
    struct hx_problem *problem;
    unsigned of[BANDWIDTH_NEEDS]; /* enum training_group of each need; TRAINING_GROUPS: the pipeline */
};

/* ---- groups ---- */

static bool place_ranks(const struct taking *t, struct bandwidth_need *need, const uint32_t *rank, uint32_t ranks)
{
    char text[BANDWIDTH_NAME];
    if (bandwidth_place(t->n, need, rank, ranks))
        return true;
    return hx_fail(t->problem, HX_EXIT_CONFIG, t->m->path,
                   "a group of %" PRIu32 " ranks (%s) does not fill dimensions of %s evenly (other degrees or another "
                   "order of parallelism?)",
                   ranks, need->purpose, bandwidth_network_write(t->n, text));
}

static bool place_group(const struct taking *t, struct bandwidth_need *need, unsigned group)
{
    const bool stages = group == TRAINING_GROUPS;
    const uint32_t ranks = stages ? t->m->parallel[TRAINING_PIPELINE] : training_group_size(t->m, group);
    uint32_t *rank = hx_allocate(ranks, sizeof *rank);
    if (!stages)
        (void)training_group_members(t->m, group, 0, rank);
    for (uint32_t i = 0; i < ranks && stages; i++)
        rank[i] = training_rank_at(t->m, (struct training_place){.at = {[TRAINING_PIPELINE] = i}});
    const bool placed = place_ranks(t, need, rank, ranks);
    free(rank);
    return placed;
}

/* Adds bytes to the need of this group and kind. */
static bool add(struct taking *t, unsigned group, struct bandwidth_need like)
{
    struct bandwidth_work *w = t->w;
    for (unsigned i = 0; i < w->needs; i++) {
        struct bandwidth_need *need = &w->need[i];
        if (t->of[i] != group || need->pattern != like.pattern || need->beside != like.beside)
            continue;
        need->bytes += like.bytes;
        need->calls += like.calls;
        return true;
    }
    if (w->needs == BANDWIDTH_NEEDS)
        return hx_fail(t->problem, HX_EXIT_CONFIG, t->m->path, "more than %d kinds of communication", BANDWIDTH_NEEDS);
    t->of[w->needs] = group;
    w->need[w->needs] = like;
    return place_group(t, &w->need[w->needs++], group);
}

/* ---- layers ---- */

static bool is_overlapped(const struct training_model *m, const struct training_layer *l,
                          const struct training_communication *c)
{
    const bool fetches = c->moment == TRAINING_FETCH_FORWARD || c->moment == TRAINING_FETCH_BACKWARD;
    if (c->moment <= TRAINING_AFTER_BACKWARD)
        return m->pairs || training_parts(m, l, c) > 1;
    return m->overlap && (c->moment == TRAINING_GRADIENTS || (fetches && m->prefetch > 0));
}

/* fused: it goes with that of the next layer. */
static bool add_communication(struct taking *t, const struct training_layer *l, const struct training_communication *c,
                              bool fused)
{
    const double size = training_group_size(t->m, c->group);
    const double times = training_times(t->m, l, c->moment);
    const double passes = c->kind == HX_ALL_REDUCE ? 2 : 1;
    struct bandwidth_need need = {.purpose = training_group_purpose[c->group],
                                  .beside = is_overlapped(t->m, l, c),
                                  .pattern = c->halo                               ? BANDWIDTH_HALO
                                             : c->kind == HX_COLLECTIVE_ALL_TO_ALL ? BANDWIDTH_EXCHANGE
                                                                                   : BANDWIDTH_COLLECTIVE,
                                  .bytes = (double)c->bytes * times * passes * (size - 1) / size,
                                  .calls = times * passes / 2};
    if (c->halo)
        need.bytes = (double)c->bytes * times * training_neighbours(t->m, c->group);
    if (fused && c->group == TRAINING_GROUP_TABLES)
        need.calls = 0;
    need.data = strcmp(need.purpose, "data") == 0;
    return add(t, c->group, need);
}

/* Messages to another stage, of so many bytes in all. */
static bool add_messages(struct taking *t, double bytes, double calls)
{
    return add(
        t, TRAINING_GROUPS,
        (struct bandwidth_need){.purpose = "pipeline", .pattern = BANDWIDTH_NEXT, .bytes = bytes, .calls = calls});
}

static bool add_stage_messages(struct taking *t, uint32_t layer)
{
    const double times = t->m->micro_batches;
    return t->m->parallel[TRAINING_PIPELINE] == 1 ||
           add_messages(t, times * (double)training_stage_bytes(t->m, &t->m->layer[layer]), times / 2);
}

/* The first and the last stage exchange gradients of tied parameters. */
static bool add_tied(struct taking *t, uint32_t stage)
{
    const double bytes = (double)training_tied_bytes(t->m);
    const bool has_tied = bytes > 0 && (stage == 0 || stage + 1 == t->m->parallel[TRAINING_PIPELINE]);
    return !has_tied || add_messages(t, bytes, 1);
}

/* Layers of a virtual stage, and its messages to the next and the one before. */
static bool add_virtual_stage(struct taking *t, const struct training_stages *s, uint32_t v)
{
    for (uint32_t i = s->first[v]; i < s->first[v + 1]; i++) {
        const struct training_layer *l = &t->m->layer[i];
        struct training_communication list[TRAINING_MOST_COMMUNICATIONS];
        const unsigned count = training_communications(t->m, l, list);
        const bool fused = i + 1 < s->first[v + 1] && training_fuses(t->m, i);
        for (unsigned c = 0; c < count; c++)
            if (!add_communication(t, l, &list[c], fused))
                return false;
        const double backward = PS * (double)training_backward_ps(t->m, l) * t->m->micro_batches;
        t->w->computing += PS * (double)training_forward_ps(t->m, l) * t->m->micro_batches + backward;
        t->w->room += i > s->first[v] ? backward : 0;
    }
    return (v + 1 == s->count || add_stage_messages(t, s->first[v + 1] - 1)) &&
           (v == 0 || add_stage_messages(t, s->first[v] - 1));
}

/* ---- stages ---- */

static bool take_stage(struct bandwidth_work *w, const struct training_model *m, const struct bandwidth_network *n,
                       const struct training_stages *s, uint32_t stage, struct hx_problem *problem)
{
    struct taking t = {.w = w, .m = m, .n = n, .problem = problem};
    *w = (struct bandwidth_work){.needs = 0};
    for (uint32_t v = stage; v < s->count; v += m->parallel[TRAINING_PIPELINE])
        if (!add_virtual_stage(&t, s, v))
            return false;
    if (!add_tied(&t, stage))
        return false;
    const double passes = (double)m->micro_batches * m->chunks;
    w->bubble = (passes + m->parallel[TRAINING_PIPELINE] - 1) / passes;
    w->room /= m->zero >= 2 ? 1 : m->micro_batches;
    return true;
}

static double bytes_of(const struct bandwidth_work *w)
{
    double all = 0;
    for (unsigned i = 0; i < w->needs; i++)
        all += w->need[i].bytes;
    return all;
}

bool bandwidth_work_of(struct bandwidth_work *w, const struct training_model *m, const struct bandwidth_network *n,
                       struct hx_problem *problem)
{
    struct training_stages s;
    double computing = 0;
    if (training_ranks(m) != bandwidth_npus(n))
        return hx_fail(problem, HX_EXIT_CONFIG, m->path,
                       "trains on %" PRIu32 " ranks, but the network has %" PRIu64 " NPUs (tensor x context x data x "
                       "pipeline are the ranks)",
                       training_ranks(m), bandwidth_npus(n));
    if (!training_stages_make(&s, m, problem))
        return false;
    bool taken = true;
    for (uint32_t stage = 0; stage < m->parallel[TRAINING_PIPELINE] && taken; stage++) {
        struct bandwidth_work own;
        taken = take_stage(&own, m, n, &s, stage, problem);
        computing = own.computing > computing ? own.computing : computing;
        if (stage == 0 || bytes_of(&own) > bytes_of(w))
            *w = own;
    }
    w->computing = computing + PS * (double)m->update_ps / w->bubble;
    training_stages_free(&s);
    return taken;
}
