/* test_training_generate - times of generated schedules on an ideal network against closed forms: what communication
 * hides behind computing, and what it does not; names, purposes and the head (schedule/training/generate.h). */
#include "tests/support/support_executed.h"
#include "tests/support/support_training.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { LAYERS = 5, RANKS = 4, LATENCY = 100 };

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Times of collectives that are the same for all: `of` points to it. */
static uint64_t fixed_ps(void *of, const struct training_communication *c)
{
    assert_true(c->bytes > 0);
    return *(const uint64_t *)of;
}

static uint64_t fixed_halo_ps(void *of, enum training_group group, uint64_t bytes)
{
    (void)group;
    assert_true(bytes > 0);
    return *(const uint64_t *)of;
}

/* The time of a model: messages between stages take `latency`, collectives `collective` ps. */
static uint64_t time_of(const struct training_model *m, uint64_t collective, uint64_t latency, uint64_t eager)
{
    struct training_timing timing = {.collective_ps = fixed_ps, .halo_ps = fixed_halo_ps, .of = &collective};
    struct executed_settings settings = executed_plain();
    settings.network.latency_ps = latency;
    settings.costs.eager = eager;
    struct executed r = executed_of(training_built(m, &timing), &settings);
    uint64_t end = executed_end(&r);
    executed_free(&r);
    return end;
}

static uint64_t plain_time(const struct training_model *m, uint64_t collective)
{
    return time_of(m, collective, 0, SCHEDULE_MOST_BYTES);
}

/* Layers of `forward` and `backward` ps on data-parallel ranks. */
static struct training_model *replicas_of(uint64_t forward, uint64_t backward, unsigned zero, bool overlap)
{
    struct training_model *m = training_equal(LAYERS, forward, backward);
    m->parallel[TRAINING_DATA] = RANKS;
    m->samples = RANKS;
    m->zero = zero;
    m->overlap = overlap;
    for (uint32_t i = 0; i < LAYERS; i++)
        m->layer[i].parameters = 1000;
    return m;
}

/* ---- data parallelism ---- */

/* The collective of layer i begins when its backward pass and the collective before have ended. So the last one ends at
 * max(b + L c, L b + c) after the begin of the backward passes, and max(c, L c - (L - 1) b) is exposed. */
static void gradients_hide_behind_the_backward_passes_before(void **state)
{
    static const uint64_t backward = 1000;
    static const uint64_t times[] = {1, 500, 999, 1000, 1001, 1250, 3000};
    (void)state;
    for (unsigned i = 0; i < sizeof times / sizeof *times; i++) {
        uint64_t c = times[i];
        uint64_t computing = LAYERS * (300 + backward);
        struct training_model *m = replicas_of(300, backward, 0, true);
        m->update_ps = 7;
        assert_int_equal(plain_time(m, c) - computing - 7, c > backward ? LAYERS * c - (LAYERS - 1) * backward : c);
        m->overlap = false;
        assert_int_equal(plain_time(m, c) - computing - 7, LAYERS * c);
        training_model_free(m);
    }
}

/* The same with collectives of messages: by a ring. Its 2 (n - 1) steps send half of 1 / n each way. */
static void gradients_of_real_collectives_hide_as_much(void **state)
{
    enum { SEGMENTS = 2 * RANKS, STEPS = 2 * (RANKS - 1), STEP = 100 };
    (void)state;
    for (uint64_t backward = 250; backward <= 2000; backward += 250) {
        uint64_t c = STEPS * (LATENCY + STEP) + LATENCY; /* the acknowledgement */
        struct training_model *m = replicas_of(300, backward, 0, true);
        struct executed_settings settings = executed_plain();
        settings.network = (struct estimate_network){.latency_ps = LATENCY, .byte_ps = 0.25};
        m->algorithm[TRAINING_DATA] = HX_ALGORITHM_TREE + HX_BY_RING;
        m->gradient_element_bytes = 4;
        for (uint32_t i = 0; i < LAYERS; i++)
            m->layer[i].parameters = SEGMENTS * STEP;
        struct executed r = executed_of(training_built(m, NULL), &settings);
        assert_int_equal(executed_end(&r), LAYERS * 300 + larger(backward + LAYERS * c, LAYERS * backward + c));
        executed_free(&r);
        training_model_free(m);
    }
}

/* Gradients go in groups: two of them have reached the bytes at layers 4 and 2, the third is what is left. */
static void groups_of_gradients_are_sent_when_they_are_large_enough(void **state)
{
    struct training_model *m = replicas_of(300, 1000, 0, true);
    uint64_t c = 5000;
    (void)state;
    m->gradient_bytes = 2 * 2000;
    assert_int_equal(plain_time(m, c), LAYERS * 300 + 2 * 1000 + 3 * c);
    m->gradient_bytes = 2 * 2000 - 1;
    assert_int_equal(plain_time(m, c), LAYERS * 300 + 2 * 1000 + 3 * c);
    m->gradient_bytes = 2 * 2000 + 1;
    assert_int_equal(plain_time(m, c), LAYERS * 300 + 3 * 1000 + 2 * c);
    m->gradient_bytes = 1000000;
    assert_int_equal(plain_time(m, c), LAYERS * 1300 + c);
    m->overlap = false;
    assert_int_equal(plain_time(m, c), LAYERS * 1300 + c);
    training_model_free(m);
}

/* ZeRO 1: layer i waits for its parameters, so forward passes end at max(f + L c, L f + c). */
static void updated_parameters_hide_behind_the_first_forward_passes(void **state)
{
    (void)state;
    for (uint64_t c = 250; c <= 2000; c += 250) {
        struct training_model *m = replicas_of(1000, 3000, 1, true);
        uint64_t backward = larger(3000 + LAYERS * c, LAYERS * 3000 + c);
        assert_int_equal(plain_time(m, c), larger(1000 + LAYERS * c, LAYERS * 1000 + c) + backward);
        m->overlap = false;
        assert_int_equal(plain_time(m, c), LAYERS * (4000 + 2 * c));
        training_model_free(m);
    }
}

/* ZeRO 2 sums gradients for each micro-batch, ZeRO 3 fetches parameters for each pass: without overlap, all add up. */
static void zero_2_and_3_communicate_in_each_micro_batch(void **state)
{
    enum { BATCHES = 3, C = 100 };
    (void)state;
    struct training_model *m = replicas_of(1000, 3000, 2, false);
    m->micro_batches = BATCHES;
    m->samples = RANKS * BATCHES;
    assert_int_equal(plain_time(m, C), LAYERS * (BATCHES * (4000 + C) + C));
    m->zero = 3;
    assert_int_equal(plain_time(m, C), LAYERS * BATCHES * (4000 + 3 * C));
    training_model_free(m);
}

/* ZeRO 3: each layer's parameters come while the layer before computes, also at the turn from forward to backward. If
 * that takes longer, the first ones alone are exposed, and the last gradients. If backward passes take 1 ps, all of
 * their communication but the first parameters is exposed. */
static void fetched_parameters_hide_behind_the_layer_before(void **state)
{
    enum { C = 400 };
    (void)state;
    struct training_model *m = replicas_of(1000, 1000, 3, true);
    assert_int_equal(plain_time(m, C), C + LAYERS * 2000 + C);
    for (uint32_t i = 0; i < LAYERS; i++)
        m->layer[i].backward_ps = 1;
    assert_int_equal(plain_time(m, C), C + LAYERS * 1000 + (LAYERS - 1 + LAYERS) * C);
    training_model_free(m);
}

/* ---- what blocks ---- */

/* Layers of F ps with parameters that arrive C ps after the fetch begins, all before a pass. Of D layers ahead, the
 * fetch of a layer begins with the computing of the D-th before it, and fetches follow one another: by brute force over
 * the layers. */
static void parameters_are_fetched_so_many_layers_ahead(void **state)
{
    enum { F = 1000, C = 1700, HELD = 5 };
    (void)state;
    for (unsigned ahead = 0; ahead <= HELD; ahead++) {
        struct training_model *m = replicas_of(F, 1, 3, true);
        uint64_t begun[2 * LAYERS] = {0};
        uint64_t fetched = 0;
        uint64_t end = 0;
        m->prefetch = ahead;
        m->gradient_bytes = TRAINING_MOST_BYTES; /* all behind the last backward pass */
        for (unsigned i = 0; i < 2 * LAYERS; i++) {
            const uint64_t from = ahead == 0 ? end : i >= ahead ? begun[i - ahead] : 0;
            fetched = (from > fetched ? from : fetched) + C;
            begun[i] = fetched > end ? fetched : end;
            end = begun[i] + (i < LAYERS ? F : 1);
        }
        assert_int_equal(plain_time(m, C), end + C);
        training_model_free(m);
    }
}

static uint64_t bytes_ps(void *of, const struct training_communication *c)
{
    (void)of;
    return c->bytes;
}

/* A pass of 12 F in N parts gathers A bytes before and scatters A after, at a picosecond a byte. Nothing hides of the
 * first part's gathering and the last one's scattering, if a part computes longer than it communicates. */
static void tensor_collectives_hide_behind_other_parts(void **state)
{
    enum { F = 12000, A = 1200 };
    (void)state;
    const struct training_timing timing = {.collective_ps = bytes_ps};
    for (uint32_t parts = 1; parts <= 4; parts++) {
        struct training_model *m = training_equal(1, F, 2 * F);
        m->parallel[TRAINING_TENSOR] = 2;
        m->layer[0].shard = TRAINING_COLUMNS;
        m->layer[0].activations = A / m->activation_bytes;
        m->sequence = true;
        m->tensor_splits = parts;
        struct executed_settings settings = executed_plain();
        struct executed r = executed_of(training_built(m, &timing), &settings);
        assert_int_equal(executed_end(&r), 3 * F + 4 * A / parts);
        executed_free(&r);
        m->sequence = false; /* an all-reduce behind each part */
        r = executed_of(training_built(m, &timing), &settings);
        assert_int_equal(executed_end(&r), 3 * F + 2 * A / parts);
        executed_free(&r);
        training_model_free(m);
    }
}

static void tensor_collectives_block(void **state)
{
    enum { C = 70, BATCHES = 3 };
    (void)state;
    for (unsigned sequence = 0; sequence < 2; sequence++) {
        struct training_model *m = training_equal(LAYERS, 1000, 2000);
        m->parallel[TRAINING_TENSOR] = RANKS;
        m->micro_batches = BATCHES;
        m->samples = m->micro_batches;
        m->overlap = true;
        m->sequence = sequence;
        for (uint32_t i = 0; i < LAYERS; i++)
            m->layer[i].shard = TRAINING_COLUMNS;
        assert_int_equal(plain_time(m, C), BATCHES * LAYERS * (3000 + 2 * C + sequence * 2 * C));
        m->recompute = TRAINING_RECOMPUTE_FULL; /* the forward pass again, with its collectives */
        assert_int_equal(plain_time(m, C), BATCHES * LAYERS * (4000 + 3 * C + sequence * 3 * C));
        training_model_free(m);
    }
}

/* Pairs, of one layer with experts: an all-to-all before and after each pass, of `C` ps, one at a time.
 *
 *     alone      C F C; then pairs; at last C B C
 *     a pair     forward: all-to-all 0 .. C, computing C .. C + F, all-to-all C + F .. 2 C + F. Backward: all-to-all C
 *                .. 2 C, computing from the end of that and of F on, all-to-all */
static void pairs_hide_communication_of_one_pass_behind_the_other(void **state)
{
    enum { BATCHES = 5, F = 3000, B = 5000, C = 1000 };
    struct training_model *m = training_equal(1, F, B);
    (void)state;
    m->parallel[TRAINING_DATA] = m->expert = 2;
    m->layer[0].shard = TRAINING_EXPERTS;
    m->layer[0].routed = 8;
    m->micro_batches = BATCHES;
    m->samples = 2 * BATCHES;
    assert_int_equal(plain_time(m, C), BATCHES * (F + B + 4 * C));
    for (unsigned chunks = 0; chunks < 2; chunks++) {
        m->pipeline = chunks ? TRAINING_INTERLEAVED : TRAINING_1F1B;
        m->pairs = true;
        assert_int_equal(plain_time(m, C), F + B + 4 * C + (BATCHES - 1) * (F + B + 2 * C));
    }
    training_model_free(m);
}

/* A micro-batch needs a pair of each stage for its way to the last one, and one of each for its way back. Without
 * communication: P - 1 forward passes to the last stage, there M - 1 pairs between a forward and a backward pass, and
 * P - 1 backward passes back. */
static void pairs_keep_all_stages_busy(void **state)
{
    enum { F = 1000, B = 2000 };
    (void)state;
    for (uint32_t stages = 1; stages < 6; stages++) {
        for (uint32_t batches = 1; batches < 20; batches++) {
            struct training_model *m = training_equal(stages, F, B);
            m->parallel[TRAINING_PIPELINE] = stages;
            m->micro_batches = batches;
            m->samples = batches;
            m->pairs = true;
            assert_int_equal(time_of(m, 0, 0, 0), (stages - 1 + batches) * (F + B));
            training_model_free(m);
        }
    }
}

/* GPipe on two stages with two micro-batches, and sends that wait for their receives: request, answer, data, and an
 * acknowledgement that ends the send.
 *
 *     with overlap    F0 F1 at stage 0; 3 l behind F0: F0 at stage 1; its next receive: 2 l, F1 B1 B0; 3 l behind B1: B1
 *                     at stage 0; its next receive: 2 l, B0
 *     without         F1 of stage 0 begins 4 l behind F0, so its message ends 2 l later. B0 of stage 1 begins 4 l behind
 *                     B1, so its message begins after B1 of stage 0, and takes 2 l longer */
static void overlap_hides_sends_between_stages(void **state)
{
    enum { F = 1000, B = 2000 };
    struct training_model *m = training_equal(2, F, B);
    (void)state;
    m->pipeline = TRAINING_GPIPE;
    m->parallel[TRAINING_PIPELINE] = 2;
    m->micro_batches = 2;
    m->samples = m->micro_batches;
    m->overlap = true;
    uint64_t hidden = 3 * F + 3 * B + 10 * LATENCY;
    assert_int_equal(time_of(m, 0, LATENCY, 0), hidden);
    m->overlap = false;
    assert_int_equal(time_of(m, 0, LATENCY, 0), hidden + 4 * LATENCY);
    assert_int_equal(time_of(m, 0, LATENCY, SCHEDULE_MOST_BYTES), 3 * F + 3 * B + 2 * LATENCY);
    training_model_free(m);
}

/* Both stages send when their gradients are summed. The first stage is later, by its backward pass and a message; then
 * its gradients travel to the last. */
static void tied_gradients_are_exchanged_behind_the_sums(void **state)
{
    enum { F = 1000, B = 2000, SUM = 300 };
    struct training_model *m = training_equal(2, F, B);
    (void)state;
    m->parallel[TRAINING_PIPELINE] = 2;
    m->parallel[TRAINING_DATA] = 4;
    m->samples = 4;
    m->layer[0].parameters = m->layer[1].parameters = 10;
    assert_int_equal(plain_time(m, SUM), 2 * F + 2 * B + SUM);
    assert_int_equal(time_of(m, SUM, LATENCY, SCHEDULE_MOST_BYTES), 2 * F + 2 * B + 2 * LATENCY + SUM);
    m->layer[1].tied = 10;
    assert_int_equal(time_of(m, SUM, LATENCY, SCHEDULE_MOST_BYTES), 2 * F + 2 * B + 3 * LATENCY + SUM);
    training_model_free(m);
}

/* ---- what the schedule says ---- */

static void the_head_has_grid_and_work(void **state)
{
    struct training_model *m = training_equal(4, 1, 1);
    struct hx_problem problem;
    static const uint32_t expected[SCHEDULE_MOST_DIMENSIONS] = {2, 3, 4};
    (void)state;
    m->order[0] = TRAINING_PIPELINE;
    m->order[1] = TRAINING_DATA;
    m->order[2] = TRAINING_CONTEXT;
    m->order[3] = TRAINING_TENSOR;
    m->parallel[TRAINING_PIPELINE] = 2;
    m->parallel[TRAINING_DATA] = 3;
    m->parallel[TRAINING_TENSOR] = 4;
    m->samples = 6;
    m->sample_tokens = 10;
    m->iterations = 5;
    struct schedule *s = schedule_build(training_built(m, NULL), "test", &problem);
    assert_int_equal(schedule_ranks(s), 24);
    assert_memory_equal(s->head->dimension, expected, sizeof expected);
    assert_int_equal(s->head->samples, 6);
    assert_int_equal(s->head->tokens, 60);
    assert_int_equal(s->head->iterations, 5);
    assert_int_equal(schedule_at(s, 0, 0)->kind, SCHEDULE_REPEAT);
    assert_int_equal(schedule_at(s, 0, 0)->amount, 5);
    assert_int_equal(schedule_next(s, 0, 0), schedule_count(s, 0));
    schedule_close(s);
    training_model_free(m);
}

/* Writes names and purposes of a rank's operations in order. */
static void list(const struct schedule *s, uint32_t rank, char *text, size_t bytes)
{
    size_t used = 0;
    for (uint32_t i = 1; i < schedule_count(s, rank); i++) {
        const struct schedule_operation *o = schedule_at(s, rank, i);
        used += (size_t)snprintf(text + used, bytes - used, "%s (%s)\n", schedule_name(s, o), schedule_purpose(s, o));
    }
}

static void operations_have_names_and_purposes(void **state)
{
    struct training_model *m = training_equal(2, 1, 1);
    struct hx_problem problem;
    char text[2048];
    (void)state;
    m->parallel[TRAINING_TENSOR] = m->parallel[TRAINING_PIPELINE] = m->parallel[TRAINING_DATA] = 2;
    m->samples = 2;
    m->update_ps = 1;
    m->zero = 1;
    m->overlap = true;
    m->layer[0].shard = TRAINING_SPACE;
    m->layer[0].halo = 1;
    m->layer[1].shard = TRAINING_COLUMNS;
    m->layer[1].parameters = 8;
    struct schedule *s = schedule_build(training_built(m, NULL), "test", &problem);
    list(s, 0, text, sizeof text);
    assert_string_equal(text, "layer 1 forward ()\n"
                              "layer 1 forward halo (tensor)\n"
                              "layer 1 forward halo (tensor)\n"
                              "stage forward (pipeline)\n"
                              "stage backward (pipeline)\n"
                              "layer 1 backward halo (tensor)\n"
                              "layer 1 backward halo (tensor)\n"
                              "layer 1 backward ()\n"
                              "update ()\n");
    list(s, 7, text, sizeof text);
    assert_string_equal(text, "layer 2 parameters (data)\n"
                              "stage forward (pipeline)\n"
                              "layer 2 forward ()\n"
                              "layer 2 forward all-reduce (tensor)\n"
                              "layer 2 backward ()\n"
                              "layer 2 backward all-reduce (tensor)\n"
                              "layer 2 gradients (data)\n"
                              "stage backward (pipeline)\n"
                              "update ()\n");
    schedule_close(s);
    training_model_free(m);
}

/* A collective has the algorithm of its axis if that has such a collective. */
static void collectives_have_the_algorithm_of_their_axis(void **state)
{
    struct training_model *m = replicas_of(1, 1, 1, false);
    struct hx_problem problem;
    (void)state;
    m->algorithm[TRAINING_DATA] = HX_ALGORITHM_TREE + HX_BY_RING;
    m->algorithm[TRAINING_TENSOR] = HX_ALGORITHM_TREE + HX_BY_RING;
    m->layer[0].shard = TRAINING_TABLES;
    struct schedule *s = schedule_build(training_built(m, NULL), "test", &problem);
    unsigned ring = 0;
    unsigned best = 0;
    for (uint32_t i = 0; i < schedule_count(s, 0); i++) {
        const struct schedule_operation *o = schedule_at(s, 0, i);
        if (o->kind != SCHEDULE_COLLECTIVE)
            continue;
        ring += o->algorithm == HX_ALGORITHM_TREE + HX_BY_RING;
        best += o->algorithm == HX_ALGORITHM_BEST && o->collective == HX_COLLECTIVE_ALL_TO_ALL;
    }
    assert_int_equal(ring, 2 * (LAYERS - 1));
    assert_int_equal(best, 2); /* a ring has no all-to-all */
    schedule_close(s);
    training_model_free(m);
}

/* Layers 1 to 3 are tables of 1, 2 and 4 elements. Each all-to-all takes the same time, so times count them. */
static void tables_are_sent_together(void **state)
{
    (void)state;
    for (unsigned recompute = 0; recompute < 2; recompute++) {
        struct training_model *m = replicas_of(10, 20, 0, true);
        uint64_t took[2];
        m->recompute = recompute ? TRAINING_RECOMPUTE_FULL : TRAINING_RECOMPUTE_NONE;
        for (uint32_t i = 0; i < LAYERS; i++)
            m->layer[i].parameters = 0;
        for (uint32_t i = 1; i < 4; i++) {
            m->layer[i].shard = TRAINING_TABLES;
            m->layer[i].activations = UINT64_C(8) << i;
        }
        for (unsigned fused = 0; fused < 2; fused++) {
            m->fuse_tables = fused;
            took[fused] = plain_time(m, 1000);
            struct hx_problem problem;
            struct schedule *s = schedule_build(training_built(m, NULL), "test", &problem);
            uint64_t bytes = 0;
            unsigned count = 0;
            for (uint32_t i = 0; i < schedule_count(s, 0); i++) {
                const struct schedule_operation *o = schedule_at(s, 0, i);
                bytes += o->kind == SCHEDULE_COLLECTIVE ? o->amount : 0;
                count += o->kind == SCHEDULE_COLLECTIVE;
            }
            assert_int_equal(count, (fused ? 1 : 3) * (2 + recompute));
            assert_int_equal(bytes, (16 + 32 + 64) * m->activation_bytes * (2 + recompute));
            schedule_close(s);
        }
        assert_int_equal(took[0] - took[1], UINT64_C(2000) * (2 + recompute));
        training_model_free(m);
    }
}

/* Equal passes in a row are one body: the number of operations does not depend on that of micro-batches. */
static void equal_passes_repeat(void **state)
{
    static const enum training_pipeline pipelines[] = {TRAINING_GPIPE, TRAINING_1F1B};
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        uint32_t count[2];
        for (unsigned more = 0; more < 2; more++) {
            struct training_model *m = training_equal(8, 1, 1);
            m->pipeline = pipelines[i];
            m->parallel[TRAINING_PIPELINE] = 4;
            m->micro_batches = more ? 1000 : 10;
            m->samples = m->micro_batches;
            struct schedule_builder *b = training_built(m, NULL);
            count[more] = schedule_builder_count(b, 1);
            schedule_builder_free(b);
            training_model_free(m);
        }
        assert_int_equal(count[0], count[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_hide_behind_the_backward_passes_before),
        cmocka_unit_test(gradients_of_real_collectives_hide_as_much),
        cmocka_unit_test(groups_of_gradients_are_sent_when_they_are_large_enough),
        cmocka_unit_test(updated_parameters_hide_behind_the_first_forward_passes),
        cmocka_unit_test(zero_2_and_3_communicate_in_each_micro_batch),
        cmocka_unit_test(fetched_parameters_hide_behind_the_layer_before),
        cmocka_unit_test(parameters_are_fetched_so_many_layers_ahead),
        cmocka_unit_test(tensor_collectives_hide_behind_other_parts),
        cmocka_unit_test(tensor_collectives_block),
        cmocka_unit_test(pairs_hide_communication_of_one_pass_behind_the_other),
        cmocka_unit_test(pairs_keep_all_stages_busy),
        cmocka_unit_test(overlap_hides_sends_between_stages),
        cmocka_unit_test(tied_gradients_are_exchanged_behind_the_sums),
        cmocka_unit_test(the_head_has_grid_and_work),
        cmocka_unit_test(operations_have_names_and_purposes),
        cmocka_unit_test(collectives_have_the_algorithm_of_their_axis),
        cmocka_unit_test(tables_are_sent_together),
        cmocka_unit_test(equal_passes_repeat),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
