/* test_training_memory.c - memory of an accelerator against the closed forms of the papers, and published layouts that
 * ran or did not. */
#include "schedule/training/memory.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_STAGES = 64 };

static const double GB = 1e9;

static void assert_near(double is, double should, double share)
{
    if (fabs(is - should) > share * fabs(should))
        fail_msg("%.9g is not %.9g", is, should);
}

static void find(const struct training_model *m, struct training_memory *memory)
{
    struct hx_problem problem;
    assert_true(m->parallel[TRAINING_PIPELINE] <= MOST_STAGES);
    if (!training_memory_find(m, memory, &problem))
        fail_msg("%s: %s", problem.where, problem.what);
}

/* ---- parameters ---- */

/* Rajbhandari et al. 2020, figure 1: 7.5 billion parameters on 64 accelerators. */
static void zero_divides_what_its_paper_says(void **state)
{
    (void)state;
    static const double gb[] = {120, 31.4, 16.6, 1.9};
    for (unsigned zero = 0; zero < 4; zero++) {
        struct training_layer l = {.parameters = 7500000000, .begins_block = true};
        struct training_memory memory;
        struct training_model m = {.layer = &l,
                                   .layers = 1,
                                   .samples = 64,
                                   .parallel = {1, 1, 64, 1},
                                   .expert = 1,
                                   .micro_batches = 1,
                                   .chunks = 1,
                                   .zero = zero,
                                   .activation_bytes = 2,
                                   .gradient_element_bytes = 2,
                                   .parameter_bytes = 2,
                                   .optimizer_bytes = 12};
        find(&m, &memory);
        assert_near((double)(memory.total - memory.buffers) / GB, gb[zero], 0.02);
        assert_int_equal(memory.activations, 0);
    }
}

/* Experts are summed over the ranks with the same experts, tables nowhere. */
static void experts_and_tables_are_divided_by_their_groups(void **state)
{
    (void)state;
    struct training_layer l[] = {{.parameters = 800, .shard = TRAINING_EXPERTS, .begins_block = true},
                                 {.parameters = 1600, .shard = TRAINING_TABLES, .begins_block = true}};
    struct training_memory memory;
    struct training_model m = {.layer = l,
                               .layers = 2,
                               .samples = 16,
                               .parallel = {2, 1, 16, 1},
                               .expert = 4,
                               .micro_batches = 1,
                               .chunks = 1,
                               .zero = 1,
                               .activation_bytes = 2,
                               .gradient_element_bytes = 2,
                               .parameter_bytes = 2,
                               .optimizer_bytes = 12};
    find(&m, &memory);
    /* 800 / (2 x 4) parameters of experts, 1600 / 16 of tables; states of the former over 16 / 4 ranks */
    assert_int_equal(memory.weights, 2 * (100 + 100));
    assert_int_equal(memory.optimizer, 12 * 100 / 4 + 12 * 100);
}

/* Of one stage they are there once; of several the first and the last have them. */
static void tied_parameters_are_there_once_in_a_stage(void **state)
{
    (void)state;
    struct training_layer l[] = {{.parameters = 100, .shard = TRAINING_COLUMNS, .begins_block = true},
                                 {.parameters = 50, .shard = TRAINING_COLUMNS, .begins_block = true},
                                 {.parameters = 101, .tied = 99, .shard = TRAINING_COLUMNS, .begins_block = true}};
    struct training_memory memory[3];
    struct training_model m = {.layer = l,
                               .layers = 3,
                               .samples = 4,
                               .parallel = {2, 1, 2, 1},
                               .expert = 1,
                               .micro_batches = 1,
                               .chunks = 1,
                               .zero = 1,
                               .activation_bytes = 2,
                               .gradient_element_bytes = 4,
                               .parameter_bytes = 2,
                               .optimizer_bytes = 12};
    find(&m, memory);
    /* 50 + 25 + 51 parameters at a rank, without 50 tied ones; optimizer states of two layers on two ranks each */
    assert_int_equal(memory[0].weights, 2 * 76);
    assert_int_equal(memory[0].gradients, 4 * 76);
    assert_int_equal(memory[0].optimizer, 12 * 76 / 2);
    m.parallel[TRAINING_PIPELINE] = 3;
    uint32_t stage_of[] = {0, 1, 2};
    m.stage_of = stage_of;
    find(&m, memory);
    assert_int_equal(memory[0].weights, 2 * 50);
    assert_int_equal(memory[1].weights, 2 * 25);
    assert_int_equal(memory[2].weights, 2 * 51);
    assert_int_equal(memory[2].optimizer, 12 * 51 / 2);
}

/* ---- buffers ---- */

/* By hand: three layers of 100, 300 and 200 parameters, groups of gradients of at least 350 bytes; activations of 10,
 * 20 and 40 elements, 3 samples a micro-batch; elements of 2 bytes. */
static void buffers_are_those_of_what_is_in_flight(void **state)
{
    (void)state;
    struct training_layer l[] = {{.parameters = 100, .activations = 10, .begins_block = true},
                                 {.parameters = 300, .activations = 20, .begins_block = true},
                                 {.parameters = 200, .activations = 40, .begins_block = true}};
    struct training_memory memory[3];
    struct training_model m = {.layer = l,
                               .layers = 3,
                               .samples = 12,
                               .parallel = {1, 1, 4, 1},
                               .expert = 4,
                               .micro_batches = 1,
                               .chunks = 1,
                               .gradient_bytes = 350,
                               .overlap = true,
                               .prefetch = 1,
                               .activation_bytes = 2,
                               .gradient_element_bytes = 2,
                               .parameter_bytes = 2};
    /* ZeRO 2: 350 bytes and the largest layer's 600; ZeRO 3: and the parameters of two layers, 300 + 200 */
    static const uint64_t zero[] = {0, 0, 350 + 600, 350 + 600 + 2 * 500};
    for (m.zero = 0; m.zero < 4; m.zero++) {
        find(&m, memory);
        assert_int_equal(memory[0].buffers, zero[m.zero]);
    }
    /* Three layers ahead hold all; two passes at once have twice as many; without overlap there is one at a time. */
    m.zero = 3;
    m.prefetch = 3;
    find(&m, memory);
    assert_int_equal(memory[0].buffers, 350 + 600 + 2 * 600);
    m.prefetch = 1;
    m.pairs = true;
    find(&m, memory);
    assert_int_equal(memory[0].buffers, 350 + 600 + 2 * 2 * 500);
    m.pairs = m.overlap = false;
    find(&m, memory);
    assert_int_equal(memory[0].buffers, 350 + 600 + 2 * 300);
    m.zero = 2;
    m.gradient_bytes = 10000; /* all of the stage: 600 parameters */
    find(&m, memory);
    assert_int_equal(memory[0].buffers, 1200);
    m.zero = 0;
    m.parallel[TRAINING_PIPELINE] = 3; /* a layer each: what comes, and what leaves */
    find(&m, memory);
    assert_int_equal(memory[0].buffers, 10 * 3 * 2);
    assert_int_equal(memory[1].buffers, (10 + 20) * 3 * 2);
    assert_int_equal(memory[2].buffers, 20 * 3 * 2);
    m.parallel[TRAINING_PIPELINE] = 1;
    m.layer[1].shard = TRAINING_EXPERTS; /* tokens that leave, and those that come */
    m.layer[1].routed = 50;
    find(&m, memory);
    assert_int_equal(memory[0].buffers, 2 * 50 * 3 * 2);
}

/* ---- activations ---- */

struct shape {
    const char *name;
    unsigned hidden, heads, blocks, tensor, stages, chunks, data, batch, samples;
};

/* A model of examples/models/megatron.model.yaml. */
static struct training_model *read_shape(const struct shape *s)
{
    char text[9][48];
    struct schedule_read_options options = {.ranks = 0};
    struct hx_problem problem;
    const struct {
        const char *name;
        unsigned value;
    } set[] = {{"hidden", s->hidden}, {"heads", s->heads},   {"blocks", s->blocks},
               {"tensor", s->tensor}, {"stages", s->stages}, {"chunks", s->chunks},
               {"data", s->data},     {"batch", s->batch},   {"samples", s->samples}};
    for (unsigned i = 0; i < sizeof set / sizeof *set; i++) {
        (void)snprintf(text[i], sizeof text[i], "%s=%u", set[i].name, set[i].value);
        options.set.item[options.set.count++] = text[i];
    }
    struct training_model *m = training_model_read("examples/models/megatron.model.yaml", &options, &problem);
    if (!m)
        fail_msg("%s: %s: %s", s->name, problem.where, problem.what);
    return m;
}

/* Korthikanti et al. 2022, table 2: bytes of the activations of a block, for s tokens, b samples, hidden size h, a
 * heads, t tensor ranks. */
static double block_bytes(const struct training_model *m, const struct shape *s)
{
    const double sbh = 2048.0 * s->samples * s->hidden;
    const double scores = 5.0 * s->heads * 2048 / s->hidden;
    const double t = s->tensor;
    if (m->recompute == TRAINING_RECOMPUTE_FULL)
        return m->sequence ? 2 * sbh / t : 2 * sbh;
    if (m->recompute == TRAINING_RECOMPUTE_SELECTIVE)
        return m->sequence ? 34 * sbh / t : sbh * (10 + 24 / t);
    return m->sequence ? sbh * (34 + scores) / t : sbh * (10 + 24 / t + scores / t);
}

static void activations_of_a_block_are_those_of_the_paper(void **state)
{
    (void)state;
    static const struct shape shapes[] = {{"1", 2304, 24, 24, 1, 1, 1, 1, 4, 4}, {"8", 6144, 64, 48, 8, 1, 1, 1, 8, 8}};
    for (unsigned i = 0; i < 12; i++) {
        struct shape more = shapes[i / 6];
        struct training_model *m[2];
        struct training_memory memory[2];
        for (unsigned k = 0; k < 2; k++) {
            more.blocks += k; /* what one more block adds */
            m[k] = read_shape(&more);
            m[k]->pipeline = TRAINING_1F1B;
            m[k]->recompute = (enum training_recompute)(i / 2 % 3);
            m[k]->sequence = i % 2;
            find(m[k], &memory[k]);
        }
        assert_near((double)(memory[1].activations - memory[0].activations), block_bytes(m[0], &more), 1e-9);
        training_model_free(m[0]);
        training_model_free(m[1]);
    }
}

/* Full recomputation: a block's backward pass has all of the block beside. */
static void a_block_that_is_computed_again_is_whole_for_a_time(void **state)
{
    (void)state;
    const struct shape one = {"", 2304, 24, 24, 1, 1, 1, 1, 4, 4};
    struct training_model *m = read_shape(&one);
    struct training_memory full, none;
    m->pipeline = TRAINING_1F1B;
    find(m, &full);
    m->recompute = TRAINING_RECOMPUTE_NONE;
    const double whole = block_bytes(m, &one);
    find(m, &none);
    m->recompute = TRAINING_RECOMPUTE_FULL;
    assert_near((double)(none.activations - full.activations), 24 * (whole - block_bytes(m, &one)) - whole, 1e-9);
    training_model_free(m);
}

/* A block of two layers, behind another: one is computed again from what enters the block, the other keeps all. */
static void a_layer_that_keeps_all_is_not_computed_again(void **state)
{
    (void)state;
    struct training_layer l[] = {{.activations = 7, .saved = 10, .begins_block = true, .keeps_all = true},
                                 {.saved = 100, .begins_block = true},
                                 {.saved = 1000, .keeps_all = true}};
    struct training_memory memory;
    struct training_model m = {.layer = l,
                               .layers = 3,
                               .samples = 1,
                               .parallel = {1, 1, 1, 1},
                               .expert = 1,
                               .micro_batches = 1,
                               .chunks = 1,
                               .recompute = TRAINING_RECOMPUTE_FULL,
                               .activation_bytes = 1};
    find(&m, &memory);
    assert_int_equal(memory.activations, 10 + 7 + 1000 + 100);
}

/* ---- schedules ---- */

/* Equal stages of one layer of a byte: micro-batches x chunks that are kept. GPipe: all M. 1F1B: P - stage.
 * Interleaved, Korthikanti et al. 2022, section 4.2.3: at the first stage those of L (1 + (P - 1) / (P chunks))
 * layers. */
static void a_stage_keeps_what_its_schedule_says(void **state)
{
    (void)state;
    for (unsigned stages = 1; stages <= 8; stages++) {
        for (unsigned chunks = 1; chunks <= 3; chunks++) {
            struct training_layer *l = calloc((size_t)stages * chunks, sizeof *l);
            struct training_memory memory[MOST_STAGES];
            struct training_model m = {.layer = l,
                                       .layers = stages * chunks,
                                       .samples = 4 * stages,
                                       .parallel = {1, 1, 1, stages},
                                       .expert = 1,
                                       .pipeline = chunks > 1 ? TRAINING_INTERLEAVED : TRAINING_1F1B,
                                       .micro_batches = 4 * stages,
                                       .chunks = chunks,
                                       .activation_bytes = 1};
            for (unsigned i = 0; i < m.layers; i++)
                l[i] = (struct training_layer){.saved = 1000, .forward_ps = 1, .backward_ps = 1, .begins_block = true};
            find(&m, memory);
            for (unsigned stage = 0; stage < stages; stage++) {
                const unsigned kept = chunks == 1 ? stages - stage : stages * chunks + stages - 1;
                if (chunks == 1 || stage == 0) {
                    assert_int_equal(memory[stage].activations, 1000 * kept);
                    assert_int_equal(memory[stage].passes, kept);
                }
            }
            m.pipeline = TRAINING_GPIPE;
            if (chunks == 1) {
                find(&m, memory);
                for (unsigned stage = 0; stage < stages; stage++)
                    assert_int_equal(memory[stage].activations, 1000 * 4 * stages);
            }
            free(l);
        }
    }
}

/* ---- published layouts ---- */

struct layout {
    struct shape shape;
    enum training_recompute recompute;
    bool sequence;
    double gb; /* of an accelerator */
    bool fits;
};

/* Ran: Narayanan et al., SC21, table 1, with the micro-batches and chunks of its scripts (Megatron-LM, examples/sc21),
 * and Korthikanti et al. 2022, table 3, "present work". Did not: figure 1 there, tensor parallelism alone; and data
 * parallelism of 2.5 billion parameters on 32 GB (Rajbhandari et al. 2020, section 1: up to 1.4). */
static void published_layouts_fit_or_do_not(void **state)
{
    (void)state;
    static const struct layout layouts[] = {
        {{"1.7 B", 2304, 24, 24, 1, 1, 1, 32, 512, 16}, TRAINING_RECOMPUTE_FULL, false, 80, true},
        {{"3.6 B", 3072, 32, 30, 2, 1, 1, 32, 512, 16}, TRAINING_RECOMPUTE_FULL, false, 80, true},
        {{"7.5 B", 4096, 32, 36, 4, 1, 1, 32, 512, 16}, TRAINING_RECOMPUTE_FULL, false, 80, true},
        {{"18.4 B", 6144, 48, 40, 8, 1, 1, 32, 1024, 8}, TRAINING_RECOMPUTE_FULL, false, 80, true},
        {{"39.1 B", 8192, 64, 48, 8, 2, 1, 32, 1536, 4}, TRAINING_RECOMPUTE_FULL, false, 80, true},
        {{"76.1 B", 10240, 80, 60, 8, 4, 3, 32, 1792, 2}, TRAINING_RECOMPUTE_FULL, false, 80, true},
        {{"145.6 B", 12288, 96, 80, 8, 8, 2, 24, 2304, 2}, TRAINING_RECOMPUTE_FULL, false, 80, true},
        {{"310.1 B", 16384, 128, 96, 8, 16, 2, 15, 2160, 1}, TRAINING_RECOMPUTE_FULL, false, 80, true},
        {{"529.6 B", 20480, 128, 105, 8, 35, 3, 9, 2520, 1}, TRAINING_RECOMPUTE_FULL, false, 80, true},
        {{"1008 B", 25600, 160, 128, 8, 64, 1, 6, 3072, 1}, TRAINING_RECOMPUTE_FULL, false, 80, true},
        {{"22 B", 6144, 64, 48, 8, 1, 1, 1, 4, 4}, TRAINING_RECOMPUTE_SELECTIVE, true, 80, true},
        {{"175 B", 12288, 96, 96, 8, 8, 3, 1, 64, 1}, TRAINING_RECOMPUTE_SELECTIVE, true, 80, true},
        {{"530 B", 20480, 128, 105, 8, 35, 3, 1, 280, 1}, TRAINING_RECOMPUTE_SELECTIVE, true, 80, true},
        {{"1 T", 25600, 160, 128, 8, 64, 1, 1, 512, 1}, TRAINING_RECOMPUTE_SELECTIVE, true, 80, true},
        {{"22 B", 6144, 64, 48, 8, 1, 1, 1, 4, 4}, TRAINING_RECOMPUTE_NONE, false, 80, false},
        {{"175 B", 12288, 96, 96, 8, 8, 3, 1, 64, 1}, TRAINING_RECOMPUTE_NONE, false, 80, false},
        {{"530 B", 20480, 128, 105, 8, 35, 3, 1, 280, 1}, TRAINING_RECOMPUTE_NONE, false, 80, false},
        {{"1 T", 25600, 160, 128, 8, 64, 1, 1, 512, 1}, TRAINING_RECOMPUTE_NONE, false, 80, false},
        {{"2.5 B", 1920, 20, 54, 1, 1, 1, 8, 64, 1}, TRAINING_RECOMPUTE_FULL, false, 32, false},
    };
    for (unsigned i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        struct training_memory memory[MOST_STAGES];
        struct training_model *m = read_shape(&layouts[i].shape);
        if (layouts[i].shape.chunks == 1)
            m->pipeline = TRAINING_1F1B;
        m->recompute = layouts[i].recompute;
        m->sequence = layouts[i].sequence;
        find(m, memory);
        const double gb = (double)memory[training_memory_most(m, memory)].total / GB;
        if ((gb <= layouts[i].gb) != layouts[i].fits)
            fail_msg("%s: %.1f GB of %.0f", layouts[i].shape.name, gb, layouts[i].gb);
        training_model_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zero_divides_what_its_paper_says),
        cmocka_unit_test(experts_and_tables_are_divided_by_their_groups),
        cmocka_unit_test(tied_parameters_are_there_once_in_a_stage),
        cmocka_unit_test(buffers_are_those_of_what_is_in_flight),
        cmocka_unit_test(a_layer_that_keeps_all_is_not_computed_again),
        cmocka_unit_test(activations_of_a_block_are_those_of_the_paper),
        cmocka_unit_test(a_block_that_is_computed_again_is_whole_for_a_time),
        cmocka_unit_test(a_stage_keeps_what_its_schedule_says),
        cmocka_unit_test(published_layouts_fit_or_do_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
