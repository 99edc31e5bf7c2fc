/* test_training_loads.c - experts with unequal loads: files, computing, bytes of each pair and memory against counts of
 * tokens (schedule/training/loads.h). */
#include "schedule/training/loads.h"
#include "schedule/training/memory.h"
#include "tests/support/support_executed.h"
#include "tests/support/support_random.h"
#include "tests/support/support_training.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_RANKS = 16, FORWARD = 1200, BACKWARD = 3600, ROUTED = 960 };

/* Layers of experts on `expert` data-parallel ranks, each layer with loads of its own if there are some. */
static struct training_model *experts_of(uint32_t layers, uint32_t expert, uint32_t experts, const uint32_t *load)
{
    struct training_model *m = training_equal(layers, FORWARD, BACKWARD);
    m->parallel[TRAINING_DATA] = m->expert = expert;
    m->samples = expert;
    m->load = hx_allocate((size_t)layers * experts + 1, sizeof *m->load);
    for (uint32_t i = 0; i < layers; i++) {
        m->layer[i].shard = TRAINING_EXPERTS;
        m->layer[i].routed = ROUTED;
        if (!load)
            continue;
        m->layer[i].load = m->load_count;
        m->layer[i].loads = experts;
        memcpy(m->load + m->load_count, load + (size_t)i * experts, experts * sizeof *load);
        m->load_count += experts;
    }
    return m;
}

/* ---- files ---- */

#define HEAD  "model: m\nsamples: 4\nvalues: {hot: 9}\nparallelism: {data: 4, expert: 2}\nlayers:\n"
#define LAYER "  - {name: x, parameters: 1, activations: 1, routed: 1, flops: 0"

static void a_file_gives_each_expert_its_load(void **state)
{
    (void)state;
    static const char text[] = HEAD LAYER ", shard: experts}\n"
                                          "  - repeat: 2\n"
                                          "    layers:\n"
                                          "      - {name: y, parameters: 1, activations: 1, routed: 1, flops: 0,\n"
                                          "         shard: experts, loads: [hot, 1, 0, 2]}\n";
    const struct schedule_read_options none = {.ranks = 0};
    struct hx_problem p;
    struct training_model *m = training_model_parse("x", text, strlen(text), &none, &p);
    assert_non_null(m);
    assert_false(training_is_unequal(m, &m->layer[0]));
    assert_true(training_load(m, &m->layer[0], 1) == 1);
    for (unsigned i = 1; i < 3; i++) {
        assert_true(training_is_unequal(m, &m->layer[i]));
        assert_true(training_load(m, &m->layer[i], 0) == 10 / 6.0);
        assert_true(training_load(m, &m->layer[i], 1) == 2 / 6.0);
        assert_true(training_load(m, &m->layer[i], TRAINING_FULLEST) == 10 / 6.0);
    }
    assert_int_equal(m->load_count, 4);
    training_model_free(m);
}

static void wrong_loads_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *keys, *what;
    } cases[] = {
        {", loads: [1, 2]}", "key 'routed' needs 'shard: experts'"},
        {", shard: experts, loads: 3}", "the load of each expert is expected here, of 2048 at most: [4, 1, 1, 2]"},
        {", shard: experts, loads: []}", "the load of each expert is expected here, of 2048 at most: [4, 1, 1, 2]"},
        {", shard: experts, loads: [0, 0]}", "all loads are 0: no expert has a token"},
        {", shard: experts, loads: [1, 2, 3]}", "loads of 3 experts on 2 ranks: all ranks need as many experts"},
        {", shard: experts, loads: [1, -1]}", "'-1' is -1, outside 0 .. 1048576"},
        {", shard: experts, loads: [1, 1048577]}", "1048577 is outside 0 .. 1048576"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        const struct schedule_read_options none = {.ranks = 0};
        struct hx_problem p = {.what = ""};
        (void)snprintf(text, sizeof text, HEAD LAYER "%s\n", cases[i].keys);
        assert_null(training_model_parse("x", text, strlen(text), &none, &p));
        if (strcmp(p.what, cases[i].what) != 0)
            fail_msg("%s: %s: %s", cases[i].keys, p.where, p.what);
    }
}

/* ---- schedules ---- */

static struct executed run(const struct training_model *m)
{
    const struct executed_settings settings = executed_plain();
    return executed_of(training_built(m, NULL), &settings);
}

/* To experts, back, and the same of gradients. */
static void check_shares(const struct schedule *s, uint32_t rank, const uint32_t of_rank[4])
{
    unsigned found = 0;
    for (uint32_t i = 0; i < schedule_count(s, rank); i++) {
        const struct schedule_operation *o = schedule_at(s, rank, i);
        if (o->kind != SCHEDULE_COLLECTIVE)
            continue;
        for (unsigned from = 0; from < 4; from++) {
            for (unsigned to = 0; to < 4; to++)
                assert_int_equal(schedule_shares(s, o)[4 * from + to], of_rank[found % 2 ? from : to]);
        }
        found++;
    }
    assert_int_equal(found, 4);
}

/* Four ranks of two experts; loads of ranks 4, 2, 2 and 0 of 8. Each rank has ROUTED elements of 2 bytes, an eighth for
 * each unit of load. */
static void tokens_go_where_their_experts_are(void **state)
{
    enum { UNIT = ROUTED * 2 / 8 };
    static const uint32_t load[] = {3, 1, 0, 2, 1, 1, 0, 0};
    static const uint32_t of_rank[] = {4, 2, 2, 0};
    struct training_model *m = experts_of(1, 4, 8, load);
    struct executed r = run(m);
    (void)state;
    (void)executed_end(&r);
    for (uint32_t rank = 0; rank < 4; rank++) {
        const struct executor_result *is = &r.plan.result[rank];
        const uint64_t out = (uint64_t)UNIT * (8 - of_rank[rank]); /* its own tokens for other ranks' experts */
        const uint64_t back = (uint64_t)UNIT * of_rank[rank] * 3;  /* other ranks' tokens, from its own experts */
        assert_int_equal(is->computing_ps, (FORWARD + BACKWARD) * of_rank[rank] / 2);
        assert_int_equal(is->bytes, 2 * (out + back)); /* forward and backward */
        check_shares(r.s, rank, of_rank);
    }
    executed_free(&r);
    training_model_free(m);
}

/* Its tensor ranks gather what came to a rank's experts, and reduce it again. */
static void tensor_ranks_share_the_load_of_their_experts(void **state)
{
    static const uint32_t load[] = {3, 1};
    struct training_model *m = experts_of(1, 2, 2, load);
    m->parallel[TRAINING_TENSOR] = 2;
    m->sequence = true;
    struct schedule_builder *b = training_built(m, NULL);
    struct hx_problem problem;
    struct schedule *s = schedule_build(b, "x", &problem);
    (void)state;
    assert_int_equal(schedule_ranks(s), 4);
    for (uint32_t rank = 0; rank < 4; rank++) {
        unsigned gathered = 0;
        for (uint32_t i = 0; i < schedule_count(s, rank); i++) {
            const struct schedule_operation *o = schedule_at(s, rank, i);
            if (o->kind != SCHEDULE_COLLECTIVE || o->collective == HX_COLLECTIVE_ALL_TO_ALL)
                continue;
            assert_int_equal(o->amount, rank < 2 ? ROUTED * 2 * 3 / 2 : ROUTED * 2 / 2);
            gathered++;
        }
        assert_int_equal(gathered, 4);
    }
    schedule_close(s);
    training_model_free(m);
}

static void equal_loads_are_as_none(void **state)
{
    static const uint32_t load[] = {3, 5, 4, 4, 8, 0, 2, 6}; /* of ranks: 8 each */
    struct training_model *m[] = {experts_of(1, 4, 8, load), experts_of(1, 4, 8, NULL)};
    struct schedule *s[2];
    struct hx_problem problem;
    (void)state;
    assert_false(training_is_unequal(m[0], &m[0]->layer[0]));
    for (unsigned i = 0; i < 2; i++)
        s[i] = schedule_build(training_built(m[i], NULL), "x", &problem);
    assert_int_equal(s[0]->bytes, s[1]->bytes);
    assert_memory_equal(s[0]->head, s[1]->head, s[0]->bytes);
    for (unsigned i = 0; i < 2; i++) {
        schedule_close(s[i]);
        training_model_free(m[i]);
    }
}

static uint64_t no_ps(void *of, const struct training_communication *c)
{
    (void)of;
    (void)c;
    return 0;
}

/* Without a network all ranks wait for the fullest one of each layer, which is not always the same. */
static void a_layer_takes_as_long_as_its_fullest_rank(void **state)
{
    uint64_t seed = 3;
    (void)state;
    for (unsigned i = 0; i < 60; i++) {
        uint32_t load[4 * MOST_RANKS];
        uint64_t should = 0;
        const uint32_t layers = 1 + seeded_below(&seed, 4);
        const uint32_t ranks = 2 + seeded_below(&seed, 7);
        const struct training_timing timing = {.collective_ps = no_ps};
        struct executed_settings settings = executed_plain();
        settings.network.latency_ps = 0;
        for (uint32_t layer = 0; layer < layers; layer++) {
            uint32_t sum = 0;
            uint32_t most = 0;
            for (uint32_t k = 0; k < ranks; k++) {
                const uint32_t one = 1 + seeded_below(&seed, 10);
                load[layer * ranks + k] = one;
                sum += one;
                most = one > most ? one : most;
            }
            for (unsigned pass = 0; pass < 2; pass++) /* rounded up */
                should += ((uint64_t)(pass ? BACKWARD : FORWARD) * most * ranks + sum - 1) / sum;
        }
        struct training_model *m = experts_of(layers, ranks, ranks, load);
        struct executed all = executed_of(training_built(m, NULL), &settings);
        struct executed stage = executed_of(training_built(m, &timing), &settings);
        assert_int_equal(executed_end(&all), should);
        assert_int_equal(executed_end(&stage), should);
        executed_free(&all);
        executed_free(&stage);
        training_model_free(m);
    }
}

/* ---- memory ---- */

static void the_fullest_rank_keeps_most(void **state)
{
    static const uint32_t load[] = {3, 1};
    struct training_memory memory[2];
    struct hx_problem problem;
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct training_model *m = experts_of(1, 2, 2, i ? load : NULL);
        m->layer[0].saved = 1000;
        m->layer[0].begins_block = true;
        assert_true(training_memory_find(m, &memory[i], &problem));
        training_model_free(m);
    }
    assert_int_equal(memory[0].activations, 1000);
    assert_int_equal(memory[1].activations, 1500);
    assert_int_equal(memory[0].buffers, 2 * ROUTED * 2); /* tokens that leave, and that come */
    assert_int_equal(memory[1].buffers, ROUTED * 2 + ROUTED * 2 * 3 / 2);
    assert_int_equal(memory[0].weights, memory[1].weights);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_gives_each_expert_its_load),
        cmocka_unit_test(wrong_loads_are_refused),
        cmocka_unit_test(tokens_go_where_their_experts_are),
        cmocka_unit_test(tensor_ranks_share_the_load_of_their_experts),
        cmocka_unit_test(equal_loads_are_as_none),
        cmocka_unit_test(a_layer_takes_as_long_as_its_fullest_rank),
        cmocka_unit_test(the_fullest_rank_keeps_most),
    };
    return cmocka_run_group_tests_name("schedule/training/loads", tests, NULL, NULL);
}
