/* memory.c - memory of an accelerator (memory.h). */
#include "schedule/training/memory.h"
#include "base/divisor.h"
#include "schedule/training/communication.h"
#include "schedule/training/loads.h"
#include "schedule/training/pipeline.h"
#include "schedule/training/stages.h"
#include "schedule/walk.h"

#include <stdlib.h>

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* ---- parameters ---- */

static void add_parameters(const struct training_model *m, const struct training_layer *l, struct training_memory *to)
{
    const uint64_t own = training_untied_parameters(m, l);
    const uint64_t ranks = l->shard == TRAINING_TABLES ? 1 : training_group_size(m, training_gradient_group(l));
    const uint64_t weights = schedule_multiply(own, m->parameter_bytes);
    const uint64_t gradients = schedule_multiply(own, m->gradient_element_bytes);
    const uint64_t optimizer = schedule_multiply(own, m->optimizer_bytes);
    to->weights = schedule_add(to->weights, hx_divide_up(weights, m->zero >= 3 ? ranks : 1));
    to->gradients = schedule_add(to->gradients, hx_divide_up(gradients, m->zero >= 2 ? ranks : 1));
    to->optimizer = schedule_add(to->optimizer, hx_divide_up(optimizer, m->zero >= 1 ? ranks : 1));
}

/* ---- activations ---- */

/* Bytes of a micro-batch, of so many of a sample, at one of `ranks` that share them. */
static uint64_t of_batch(const struct training_model *m, uint64_t bytes, uint64_t ranks)
{
    return hx_divide_up(schedule_multiply(bytes, training_micro_samples(m)), ranks * m->parallel[TRAINING_CONTEXT]);
}

/* What leaves a layer. */
static uint64_t output_of(const struct training_model *m, const struct training_layer *l)
{
    return of_batch(m, schedule_multiply(l->activations, m->activation_bytes), training_sequence_ranks(m));
}

/* What selective recomputation makes again; of experts, at the fullest rank, as below. */
static uint64_t recomputed_of(const struct training_model *m, const struct training_layer *l)
{
    return training_loaded(m, l, TRAINING_FULLEST, of_batch(m, l->recomputed, training_tensor_ranks(m, l)));
}

/* What a layer keeps for its backward pass, all of it. */
static uint64_t saved_of(const struct training_model *m, const struct training_layer *l)
{
    if (!l->saved && !l->saved_whole)
        return output_of(m, l);
    const uint64_t saved = schedule_add(of_batch(m, l->saved, training_tensor_ranks(m, l)),
                                        of_batch(m, l->saved_whole, training_sequence_ranks(m)));
    return training_loaded(m, l, TRAINING_FULLEST, saved);
}

/* What a pass keeps until its backward pass, and what its backward pass needs beside that. */
struct kept {
    uint64_t bytes, aside;
};

/* Of the layers of a block. With full recomputation those that keep all are left out of it. */
static struct kept kept_by_block(const struct training_model *m, uint32_t first, uint32_t end)
{
    struct kept k = {0, 0};
    bool repeats = false;
    for (uint32_t i = first; i < end; i++) {
        const struct training_layer *l = &m->layer[i];
        const uint64_t saved = saved_of(m, l);
        const uint64_t recomputed = recomputed_of(m, l);
        if (training_repeats_forward(m, l)) {
            k.aside = schedule_add(k.aside, schedule_add(saved, recomputed));
            repeats = true;
        } else if (m->recompute == TRAINING_RECOMPUTE_SELECTIVE) {
            k.bytes = schedule_add(k.bytes, saved);
            k.aside = larger(k.aside, recomputed);
        } else {
            k.bytes = schedule_add(k.bytes, schedule_add(saved, recomputed));
        }
    }
    if (repeats && first > 0)
        k.bytes = schedule_add(k.bytes, output_of(m, &m->layer[first - 1]));
    return k;
}

/* Of a virtual stage. Blocks compute one after the other. */
static struct kept kept_by_stage(const struct training_model *m, uint32_t first, uint32_t end)
{
    struct kept all = {0, 0};
    while (first < end) {
        uint32_t next = first + 1;
        while (next < end && !m->layer[next].begins_block)
            next++;
        const struct kept k = kept_by_block(m, first, next);
        all.bytes = schedule_add(all.bytes, k.bytes);
        all.aside = larger(all.aside, k.aside);
        first = next;
    }
    return all;
}

/* Follows the passes of a stage. kept[chunks]; pass: room for training_passes(). */
static void find_peak(const struct training_model *m, uint32_t stage, const struct kept *kept,
                      struct training_pass *pass, struct training_memory *to)
{
    uint64_t held = 0;
    uint32_t passes = 0;
    training_pipeline_order(m, stage, pass);
    for (uint32_t i = 0; i < training_passes(m); i++) {
        const struct kept *k = &kept[pass[i].chunk];
        if (!pass[i].backward) {
            held = schedule_add(held, k->bytes);
            passes++;
        }
        const uint64_t now = pass[i].backward ? schedule_add(held, k->aside) : held;
        if (now > to->activations) {
            to->activations = now;
            to->passes = passes;
        }
        if (pass[i].backward) {
            held -= k->bytes;
            passes--;
        }
    }
}

/* ---- buffers ---- */

/* ZeRO 3: parameters of a layer that computes, and of those that are fetched ahead. In pairs two passes have them. */
static uint64_t fetched_with(const struct training_model *m, uint32_t first, uint32_t layer)
{
    const uint32_t ahead = m->overlap ? m->prefetch : 0;
    uint64_t bytes = 0;
    for (uint32_t i = layer - first > ahead ? layer - ahead : first; i <= layer; i++) {
        if (m->layer[i].shard != TRAINING_TABLES)
            bytes =
                schedule_add(bytes, schedule_multiply(training_own_parameters(m, &m->layer[i]), m->parameter_bytes));
    }
    return m->pairs ? schedule_add(bytes, bytes) : bytes;
}

/* Of a virtual stage; those of chunks are used one after the other. */
static uint64_t buffers_of(const struct training_model *m, uint32_t first, uint32_t end)
{
    uint64_t gradients = 0;
    uint64_t largest = 0;
    uint64_t fetched = 0;
    uint64_t exchanged = 0;
    for (uint32_t i = first; i < end; i++) {
        const struct training_layer *l = &m->layer[i];
        const uint64_t untied = l->shard == TRAINING_TABLES ? 0 : training_untied_parameters(m, l);
        const uint64_t routed = schedule_multiply(l->routed, m->activation_bytes);
        gradients = schedule_add(gradients, schedule_multiply(untied, m->gradient_element_bytes));
        largest = larger(largest, schedule_multiply(untied, m->gradient_element_bytes));
        fetched = larger(fetched, fetched_with(m, first, i));
        const uint64_t tokens = of_batch(m, routed, m->parallel[TRAINING_TENSOR]);
        exchanged = larger(exchanged, tokens + training_loaded(m, l, TRAINING_FULLEST, tokens));
        if (m->sequence && l->shard == TRAINING_COLUMNS)
            exchanged = larger(exchanged, of_batch(m, schedule_multiply(l->activations, m->activation_bytes), 1));
    }
    uint64_t sum = exchanged;
    if (m->zero >= 2) {
        const uint64_t group = schedule_add(largest, m->gradient_bytes);
        sum = schedule_add(sum, group < gradients ? group : gradients);
    }
    if (m->zero >= 3)
        sum = schedule_add(sum, fetched);
    if (m->parallel[TRAINING_PIPELINE] > 1 && first > 0)
        sum = schedule_add(sum, training_stage_bytes(m, &m->layer[first - 1]));
    if (m->parallel[TRAINING_PIPELINE] > 1 && end < m->layers)
        sum = schedule_add(sum, training_stage_bytes(m, &m->layer[end - 1]));
    return sum;
}

/* ---- stages ---- */

static void find_stage(const struct training_model *m, const struct training_stages *s, uint32_t stage,
                       struct training_pass *pass, struct training_memory *to)
{
    struct kept *kept = hx_allocate(m->chunks, sizeof *kept);
    *to = (struct training_memory){.reserved = m->reserved};
    for (uint32_t chunk = 0; chunk < m->chunks; chunk++) {
        const uint32_t v = chunk * m->parallel[TRAINING_PIPELINE] + stage;
        for (uint32_t i = s->first[v]; i < s->first[v + 1]; i++)
            add_parameters(m, &m->layer[i], to);
        kept[chunk] = kept_by_stage(m, s->first[v], s->first[v + 1]);
        to->buffers = larger(to->buffers, buffers_of(m, s->first[v], s->first[v + 1]));
    }
    find_peak(m, stage, kept, pass, to);
    free(kept);
    const uint64_t part[] = {to->weights, to->gradients, to->optimizer, to->activations, to->buffers, to->reserved};
    for (unsigned i = 0; i < sizeof part / sizeof *part; i++)
        to->total = schedule_add(to->total, part[i]);
}

bool training_memory_find(const struct training_model *m, struct training_memory *memory, struct hx_problem *problem)
{
    struct training_stages s;
    if (!training_stages_make(&s, m, problem))
        return false;
    struct training_pass *pass = hx_allocate(training_passes(m), sizeof *pass);
    for (uint32_t stage = 0; stage < m->parallel[TRAINING_PIPELINE]; stage++)
        find_stage(m, &s, stage, pass, &memory[stage]);
    free(pass);
    training_stages_free(&s);
    return true;
}

uint32_t training_memory_most(const struct training_model *m, const struct training_memory *memory)
{
    uint32_t most = 0;
    for (uint32_t stage = 1; stage < m->parallel[TRAINING_PIPELINE]; stage++)
        most = memory[stage].total > memory[most].total ? stage : most;
    return most;
}

uint64_t training_memory_kept(const struct training_model *m)
{
    return kept_by_stage(m, 0, m->layers).bytes;
}

uint32_t training_layers_without_saved(const struct training_model *m)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < m->layers; i++) {
        const struct training_layer *l = &m->layer[i];
        count += !l->saved && !l->saved_whole && (l->flops > 0 || l->forward_ps > 0);
    }
    return count;
}
