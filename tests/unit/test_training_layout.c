/* test_training_layout - layouts of a model: all that divide it and no others, against a count by other means; a model
 * in a layout (schedule/training/layout.h). */
#include "schedule/training/layout.h"
#include "schedule/training/memory.h"
#include "tests/support/support_effort.h"
#include "tests/support/support_seed.h"
#include "tests/support/support_training.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_LAYOUTS = 1 << 16 };

struct seen {
    struct training_layout layout[MOST_LAYOUTS];
    unsigned count;
};

static void take(void *of, const struct training_layout *l)
{
    struct seen *s = of;
    assert_true(s->count < MOST_LAYOUTS);
    s->layout[s->count++] = *l;
}

/* Blocks with heads, widths and samples of random divisors. */
static struct training_model *random_model(uint64_t *seed)
{
    const uint32_t layers = 2 + seeded_below(seed, 6);
    struct training_model *m = training_equal(layers, 0, 0);
    m->products = layers;
    m->product = hx_allocate(layers, sizeof *m->product);
    m->samples = 1 + seeded_below(seed, 24);
    m->sample_tokens = 1 + seeded_below(seed, 12);
    m->expert = 1 + seeded_below(seed, 4);
    for (uint32_t i = 0; i < layers; i++) {
        struct training_layer *l = &m->layer[i];
        l->flops = 1000;
        l->activations = 1 + seeded_below(seed, 12);
        l->parameters = 100;
        l->shard = seeded_below(seed, 3) ? TRAINING_COLUMNS : TRAINING_EXPERTS;
        l->context = seeded_below(seed, 2);
        l->product = i;
        l->products = seeded_below(seed, 2);
        m->product[i] = (struct training_product){.m = 8,
                                                  .n = 1 + seeded_below(seed, 12),
                                                  .k = 4,
                                                  .times = 1,
                                                  .divided = TRAINING_COLUMNS_OF,
                                                  .recomputed = seeded_below(seed, 8) == 0};
    }
    return m;
}

/* Whether all shares are whole, in other words than layout.c has. */
static bool divides(const struct training_model *m, uint32_t t, uint32_t c, uint32_t d, uint32_t p, uint32_t e,
                    uint32_t v, uint64_t b, unsigned zero, unsigned recompute)
{
    bool has_context = false;
    bool has_experts = false;
    bool is_selective = false;
    for (uint32_t i = 0; i < m->layers; i++) {
        const struct training_layer *l = &m->layer[i];
        const uint64_t shared = l->products ? m->product[l->product].n : l->activations;
        has_context = has_context || l->context > 0;
        has_experts = has_experts || l->shard == TRAINING_EXPERTS;
        is_selective = is_selective || (m->products && m->product[i].recomputed);
        if (shared % t != 0)
            return false;
    }
    const uint64_t batches = m->samples / d / b;
    return batches * d * b == m->samples && (c == 1 || (has_context && m->sample_tokens % c == 0)) &&
           p * v <= m->layers && (e == 1 || (has_experts && c * d % e == 0 && m->expert % e == 0)) &&
           (v == 1 || (p > 1 && batches >= p)) && (zero == 0 || c * d > 1) &&
           (recompute != TRAINING_RECOMPUTE_SELECTIVE || is_selective);
}

static unsigned count_of(const struct training_model *m, uint32_t ranks)
{
    unsigned count = 0;
    for (uint32_t t = 1; t <= ranks; t++) {
        for (uint32_t c = 1; c * t <= ranks; c++) {
            for (uint32_t p = 1; p * c * t <= ranks; p++) {
                if (ranks % (t * c * p))
                    continue;
                for (uint32_t e = 1; e <= m->expert; e++) {
                    for (uint64_t b = 1; b <= m->samples; b++) {
                        for (uint32_t v = 1; v <= m->layers; v++) {
                            for (unsigned rest = 0; rest < 12; rest++)
                                count += divides(m, t, c, ranks / t / c / p, p, e, v, b, rest / 3, rest % 3);
                        }
                    }
                }
            }
        }
    }
    return count;
}

static void all_layouts_that_divide_are_found_once(void **state)
{
    static struct seen seen;
    const struct training_choices all = {.values = {0}};
    (void)state;
    for (seeded_run = seeded_by(1); seeded_run < seeded_by(1) + effort(60); seeded_run++) {
        uint64_t seed = split_mix(seeded_run);
        struct training_model *m = random_model(&seed);
        const uint32_t ranks = 1 + seeded_below(&seed, 24);
        seen.count = 0;
        training_layout_each(m, ranks, &all, take, &seen);
        assert_int_equal(seen.count, count_of(m, ranks));
        for (unsigned i = 0; i < seen.count; i++) {
            const struct training_layout *l = &seen.layout[i];
            assert_true(divides(m, l->parallel[TRAINING_TENSOR], l->parallel[TRAINING_CONTEXT],
                                l->parallel[TRAINING_DATA], l->parallel[TRAINING_PIPELINE], l->expert, l->chunks,
                                l->batch, l->zero, l->recompute));
            assert_int_equal(l->parallel[TRAINING_TENSOR] * l->parallel[TRAINING_CONTEXT] * l->parallel[TRAINING_DATA] *
                                 l->parallel[TRAINING_PIPELINE],
                             ranks);
            assert_true(i == 0 || memcmp(l, &seen.layout[i - 1], sizeof *l) != 0);
        }
        training_model_free(m);
    }
    seeded_run = 0;
}

/* A model in a layout is the model that a file with that layout would give: memory and times, of each stage. */
static void a_model_in_a_layout_has_its_shares(void **state)
{
    struct training_model *m = training_equal(8, 0, 0);
    struct training_model in;
    struct training_memory memory[4];
    struct hx_problem problem;
    (void)state;
    m->samples = 64;
    m->optimizer_bytes = 12;
    m->flops = 1e12;
    for (uint32_t i = 0; i < m->layers; i++) {
        m->layer[i].flops = 1000;
        m->layer[i].parameters = 96;
        m->layer[i].activations = 24;
        m->layer[i].shard = TRAINING_COLUMNS;
    }
    struct training_layout l = training_layout_of(m);
    assert_int_equal(l.batch, 64);
    l = (struct training_layout){
        .parallel = {[TRAINING_TENSOR] = 2, [TRAINING_CONTEXT] = 1, [TRAINING_DATA] = 4, [TRAINING_PIPELINE] = 2},
        .expert = 1,
        .chunks = 2,
        .batch = 2,
        .zero = 1};
    memcpy(l.order, m->order, sizeof l.order);
    assert_true(divides(m, 2, 1, 4, 2, 1, 2, 2, 1, TRAINING_RECOMPUTE_NONE));
    training_layout_apply(&in, m, &l);
    in.stage_of = training_layout_stages(&in);
    assert_int_equal(training_ranks(&in), 16);
    assert_int_equal(in.micro_batches, 8);
    assert_int_equal(training_micro_samples(&in), 2);
    assert_int_equal(in.pipeline, TRAINING_INTERLEAVED);
    assert_int_equal(in.zero, 1);
    assert_true(in.sequence);
    for (uint32_t i = 0; i < m->layers; i++)
        assert_int_equal(in.stage_of[i], i / 2);
    assert_true(training_memory_find(&in, memory, &problem));
    assert_int_equal(memory[0].weights, 4 * 96 / 2 * 2);        /* four layers, two tensor ranks, two bytes */
    assert_int_equal(memory[0].optimizer, 4 * 96 / 2 * 12 / 4); /* four replicas share it */
    const struct training_layout back = training_layout_of(&in);
    assert_memory_equal(back.parallel, l.parallel, sizeof l.parallel);
    assert_int_equal(back.batch, 2);
    assert_int_equal(back.chunks, 2);
    free(in.stage_of);
    training_model_free(m);
}

static void choices_leave_the_others_out(void **state)
{
    static struct seen seen;
    struct training_choices only = {.value = {[TRAINING_CHOOSE_TENSOR] = {2, 4}, [TRAINING_CHOOSE_ZERO] = {3}},
                                    .values = {[TRAINING_CHOOSE_TENSOR] = 2, [TRAINING_CHOOSE_ZERO] = 1}};
    struct training_model *m = training_equal(2, 0, 0);
    (void)state;
    m->samples = 8;
    m->layer[0].shard = m->layer[1].shard = TRAINING_COLUMNS;
    m->layer[0].activations = m->layer[1].activations = 8;
    seen.count = 0;
    training_layout_each(m, 8, &only, take, &seen);
    assert_true(seen.count > 0);
    for (unsigned i = 0; i < seen.count; i++) {
        const uint32_t tensor = seen.layout[i].parallel[TRAINING_TENSOR];
        assert_true(tensor == 2 || tensor == 4);
        assert_int_equal(seen.layout[i].zero, 3);
    }
    training_model_free(m);
}

static void texts_say_what_is_not_one(void **state)
{
    char text[TRAINING_LAYOUT_TEXT];
    struct training_layout l = {.parallel = {1, 1, 1, 1},
                                .order = {TRAINING_TENSOR, TRAINING_CONTEXT, TRAINING_DATA, TRAINING_PIPELINE},
                                .expert = 1,
                                .chunks = 1,
                                .batch = 4};
    (void)state;
    assert_string_equal(training_layout_text(text, &l), "batch 4");
    l.parallel[TRAINING_TENSOR] = 8;
    l.parallel[TRAINING_PIPELINE] = 4;
    l.chunks = 5;
    l.zero = 2;
    l.recompute = TRAINING_RECOMPUTE_FULL;
    assert_string_equal(training_layout_text(text, &l), "tensor 8, pipeline 4 x 5, batch 4, ZeRO 2, recompute");
}

/* Layers with times of a rank belong to one layout. */
static void layers_with_times_have_one_layout(void **state)
{
    struct training_model *m = training_equal(2, 1, 1);
    (void)state;
    assert_non_null(training_layout_obstacle(m));
    m->layer[0].forward_ps = m->layer[1].forward_ps = 0;
    assert_null(training_layout_obstacle(m));
    training_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(all_layouts_that_divide_are_found_once, seeded_report),
        cmocka_unit_test(a_model_in_a_layout_has_its_shares),
        cmocka_unit_test(choices_leave_the_others_out),
        cmocka_unit_test(texts_say_what_is_not_one),
        cmocka_unit_test(layers_with_times_have_one_layout),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
