/* test_training_pipeline - layers of stages, orders of passes, and the time of a pipeline on an ideal network: bubbles
 * against closed forms (schedule/training/stages.h, pipeline.h). */
#include "schedule/training/pipeline.h"
#include "schedule/training/stages.h"
#include "tests/support/support_effort.h"
#include "tests/support/support_executed.h"
#include "tests/support/support_seed.h"
#include "tests/support/support_training.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* ---- stages ---- */

/* The longest time of a virtual stage between cuts first[0 .. count]. */
static uint64_t longest(const struct training_model *m, const uint32_t *first, uint32_t count)
{
    uint64_t most = 0;
    for (uint32_t v = 0; v < count; v++) {
        uint64_t ps = 0;
        for (uint32_t i = first[v]; i < first[v + 1]; i++)
            ps += m->layer[i].forward_ps + m->layer[i].backward_ps;
        most = ps > most ? ps : most;
    }
    return most;
}

/* The next division in ascending order of cuts; false behind the last one. */
static bool next_division(uint32_t *first, uint32_t count)
{
    uint32_t v = count - 1;
    while (v > 0 && first[v] + 1 == first[v + 1])
        v--;
    if (v == 0)
        return false;
    first[v]++;
    for (uint32_t i = v + 1; i < count; i++)
        first[i] = first[i - 1] + 1;
    return true;
}

/* Tries all divisions in ascending order of cuts: the first with the least time is the one. */
static void each_division_has_the_least_time_and_the_earliest_cuts(void **state)
{
    enum { MOST_LAYERS = 9 };
    (void)state;
    for (seeded_run = seeded_by(1); seeded_run < seeded_by(1) + effort(600); seeded_run++) {
        uint64_t seed = split_mix(seeded_run);
        struct training_model *m = training_equal(1 + seeded_below(&seed, MOST_LAYERS), 1, 1);
        struct training_stages s;
        struct hx_problem problem;
        uint32_t count = 1 + seeded_below(&seed, m->layers);
        uint32_t first[MOST_LAYERS + 1];
        uint32_t best[MOST_LAYERS + 1];
        for (uint32_t i = 0; i < m->layers; i++)
            m->layer[i].forward_ps = 1 + seeded_below(&seed, 1 + seeded_below(&seed, 20));
        for (uint32_t v = 0; v < count; v++)
            first[v] = v;
        first[count] = m->layers;
        memcpy(best, first, sizeof best);
        while (next_division(first, count)) {
            if (longest(m, first, count) < longest(m, best, count))
                memcpy(best, first, sizeof best);
        }
        m->parallel[TRAINING_PIPELINE] = count;
        assert_true(training_stages_make(&s, m, &problem));
        assert_int_equal(s.count, count);
        assert_memory_equal(s.first, best, (count + 1) * sizeof *best);
        training_stages_free(&s);
        training_model_free(m);
    }
    seeded_run = 0;
}

enum { MOST_CUTS = 16 };

/* Time of an iteration on an ideal network if stages begin with the layers first[]. */
static uint64_t time_of_division(const struct training_model *m, const uint32_t *first, uint32_t count)
{
    uint64_t forward[MOST_CUTS] = {0};
    uint64_t backward[MOST_CUTS] = {0};
    for (uint32_t v = 0; v < count; v++) {
        for (uint32_t i = first[v]; i < first[v + 1]; i++) {
            forward[v] += m->layer[i].forward_ps;
            backward[v] += m->layer[i].backward_ps;
        }
    }
    return training_pipeline_ps(m, forward, backward);
}

/* Of several chunks and few layers: against all divisions. */
static void stages_of_chunks_are_nearly_as_short_as_possible(void **state)
{
    enum { MOST_LAYERS = 14 };
    const uint32_t cases = effort(200);
    double sum = 0;
    (void)state;
    for (seeded_run = seeded_by(2); seeded_run < seeded_by(2) + cases; seeded_run++) {
        uint64_t seed = split_mix(seeded_run);
        const uint32_t stages = seeded_run % 2 ? 2 : 3;
        const uint32_t chunks = seeded_run / 2 % 2 ? 2 : 3;
        const uint32_t count = stages * chunks;
        struct training_model *m = training_equal(count + seeded_below(&seed, MOST_LAYERS + 1 - count), 1, 1);
        struct training_stages s;
        struct hx_problem problem;
        uint32_t first[MOST_LAYERS + 1];
        for (uint32_t i = 0; i < m->layers; i++) {
            m->layer[i].forward_ps = 1000 * (1 + seeded_below(&seed, 1 + seeded_below(&seed, 20)));
            m->layer[i].backward_ps = 2 * m->layer[i].forward_ps;
        }
        m->pipeline = TRAINING_INTERLEAVED;
        m->parallel[TRAINING_PIPELINE] = stages;
        m->chunks = chunks;
        m->pairs = seeded_below(&seed, 2);
        m->micro_batches = 4 * stages;
        for (uint32_t v = 0; v < count; v++)
            first[v] = v;
        first[count] = m->layers;
        uint64_t least = time_of_division(m, first, count);
        while (next_division(first, count)) {
            const uint64_t is = time_of_division(m, first, count);
            least = is < least ? is : least;
        }
        assert_true(training_stages_make(&s, m, &problem));
        const double ratio = (double)time_of_division(m, s.first, count) / (double)least;
        assert_true(ratio >= 1 && ratio < 1.25);
        sum += ratio;
        training_stages_free(&s);
        training_model_free(m);
    }
    if (sum >= 1.02 * cases)
        fail_msg("%g times the least time in the mean", sum / cases);
    seeded_run = 0;
}

static void given_stages_are_taken(void **state)
{
    static const uint32_t expected[] = {0, 3, 4, 5, 6};
    static const uint32_t given[] = {0, 0, 0, 1, 2, 3};
    struct training_model *m = training_equal(6, 1, 1);
    struct training_stages s;
    struct hx_problem problem;
    (void)state;
    m->parallel[TRAINING_PIPELINE] = 2;
    m->chunks = 2;
    m->stage_of = memcpy(hx_allocate(6, sizeof *given), given, sizeof given);
    assert_true(training_stages_make(&s, m, &problem));
    assert_memory_equal(s.first, expected, sizeof expected);
    training_stages_free(&s);
    training_model_free(m);
}

static void each_stage_needs_a_layer(void **state)
{
    struct training_model *m = training_equal(5, 1, 1);
    struct hx_problem problem;
    (void)state;
    m->parallel[TRAINING_PIPELINE] = 3;
    m->chunks = 2;
    m->pipeline = TRAINING_INTERLEAVED;
    m->micro_batches = 3;
    assert_null(training_generate(m, NULL, &problem));
    assert_int_equal(problem.exit_code, HX_EXIT_CONFIG);
    assert_string_equal(problem.where, "test");
    assert_string_equal(problem.what, "5 layers for 6 stages (pipeline x chunks): each needs a layer");
    training_model_free(m);
}

/* ---- models ---- */

static struct training_model *pipeline_of(enum training_pipeline pipeline, uint32_t stages, uint32_t batches,
                                          uint32_t chunks, const uint64_t ps[2])
{
    struct training_model *m = training_equal(stages * chunks, ps[0], ps[1]);
    m->pipeline = pipeline;
    m->parallel[TRAINING_PIPELINE] = stages;
    m->micro_batches = batches;
    m->chunks = chunks;
    m->samples = batches;
    return m;
}

/* ---- order ---- */

/* Each micro-batch passes each chunk once forward, then once backward. most: forward passes without their backward pass
 * at one time: the stage keeps their activations. */
static void check_order(const struct training_model *m, uint32_t stage, uint32_t most)
{
    uint32_t all = m->micro_batches * m->chunks;
    struct training_pass *pass = hx_allocate(training_passes(m), sizeof *pass);
    unsigned *passed = hx_allocate(all, sizeof *passed);
    uint32_t kept = 0;
    uint32_t most_kept = 0;
    assert_int_equal(training_passes(m), 2 * all);
    training_pipeline_order(m, stage, pass);
    for (uint32_t i = 0; i < 2 * all; i++) {
        assert_in_range(pass[i].batch, 0, m->micro_batches - 1);
        assert_in_range(pass[i].chunk, 0, m->chunks - 1);
        unsigned *own = &passed[pass[i].batch * m->chunks + pass[i].chunk];
        assert_int_equal(*own, pass[i].backward);
        ++*own;
        kept = pass[i].backward ? kept - 1 : kept + 1;
        most_kept = kept > most_kept ? kept : most_kept;
    }
    assert_int_equal(kept, 0);
    assert_int_equal(most_kept, most < all ? most : all);
    HX_FREE(pass, passed);
}

static void passes_are_in_the_order_of_their_pipeline(void **state)
{
    static const uint64_t ps[2] = {1, 1};
    (void)state;
    for (uint32_t stages = 1; stages <= 5; stages++) {
        for (uint32_t batches = stages; batches <= 3 * stages; batches += stages) {
            for (uint32_t stage = 0; stage < stages; stage++) {
                struct training_model *m = pipeline_of(TRAINING_GPIPE, stages, batches, 1, ps);
                check_order(m, stage, batches);
                m->pipeline = TRAINING_1F1B;
                check_order(m, stage, stages - stage);
                m->pipeline = TRAINING_INTERLEAVED;
                check_order(m, stage, stages - stage); /* of one chunk: 1F1B */
                for (m->chunks = 2; m->chunks < 4; m->chunks++)
                    check_order(m, stage, 2 * (stages - 1 - stage) + (m->chunks - 1) * stages + 1);
                m->pairs = true; /* one more is in its pair */
                for (m->chunks = 1; m->chunks < 4; m->chunks++)
                    check_order(m, stage, 2 * (stages - 1 - stage) + (m->chunks - 1) * stages + 2);
                training_model_free(m);
            }
        }
    }
}

/* ---- bubbles ---- */

/* The time of an iteration if messages take none. eager 0: a send ends when its receive has taken it. */
static uint64_t ideal_time(const struct training_model *m, uint64_t eager)
{
    struct executed_settings settings = executed_plain();
    settings.network = (struct estimate_network){.latency_ps = 0, .byte_ps = 0};
    settings.costs.eager = eager;
    struct executed r = executed_of(training_built(m, NULL), &settings);
    uint64_t end = executed_end(&r);
    executed_free(&r);
    return end;
}

/* Random layers, stages, chunks and orders: the passes alone take as long as their schedule. */
static void passes_take_the_time_of_their_schedule(void **state)
{
    (void)state;
    for (seeded_run = seeded_by(3); seeded_run < seeded_by(3) + effort(200); seeded_run++) {
        uint64_t seed = split_mix(seeded_run);
        const uint32_t stages = 1 + seeded_below(&seed, 5);
        const uint32_t chunks = 1 + seeded_below(&seed, MOST_CUTS / stages);
        struct training_model *m = training_equal(stages * chunks, 1, 1);
        uint64_t forward[MOST_CUTS];
        uint64_t backward[MOST_CUTS];
        for (uint32_t i = 0; i < m->layers; i++) {
            forward[i] = m->layer[i].forward_ps = 1 + seeded_below(&seed, 1000);
            backward[i] = m->layer[i].backward_ps = 1 + seeded_below(&seed, 1000);
        }
        m->pipeline = chunks > 1 ? TRAINING_INTERLEAVED : (enum training_pipeline)seeded_below(&seed, 3);
        m->parallel[TRAINING_PIPELINE] = stages;
        m->chunks = chunks;
        m->micro_batches = stages + seeded_below(&seed, 12);
        m->samples = m->micro_batches;
        m->pairs = m->pipeline != TRAINING_GPIPE && seeded_below(&seed, 2);
        m->overlap = true;
        assert_int_equal(training_pipeline_ps(m, forward, backward), ideal_time(m, SCHEDULE_MOST_BYTES));
        training_model_free(m);
    }
    seeded_run = 0;
}

static void check_bubble(enum training_pipeline pipeline, uint32_t stages, uint32_t batches, uint32_t chunks)
{
    static const uint64_t times[][2] = {{1000, 1000}, {1000, 2000}, {3000, 1000}, {7, 1000}};
    for (unsigned i = 0; i < sizeof times / sizeof *times; i++) {
        struct training_model *m = pipeline_of(pipeline, stages, batches, chunks, times[i]);
        uint64_t expected = (uint64_t)(batches * chunks + stages - 1) * (times[i][0] + times[i][1]);
        for (unsigned overlap = 0; overlap < 2; overlap++) {
            m->overlap = overlap;
            assert_int_equal(ideal_time(m, SCHEDULE_MOST_BYTES), expected);
            assert_int_equal(ideal_time(m, 0), expected);
        }
        training_model_free(m);
    }
}

static void gpipe_and_1f1b_have_the_bubble_of_their_stages(void **state)
{
    (void)state;
    for (uint32_t stages = 1; stages <= 6; stages++) {
        for (uint32_t batches = 1; batches <= 9; batches++) {
            check_bubble(TRAINING_GPIPE, stages, batches, 1);
            check_bubble(TRAINING_1F1B, stages, batches, 1);
        }
    }
}

static void interleaving_divides_the_bubble_by_its_chunks(void **state)
{
    (void)state;
    for (uint32_t stages = 1; stages <= 5; stages++) {
        for (uint32_t groups = 1; groups <= 3; groups++) {
            for (uint32_t chunks = 1; chunks <= 4; chunks++)
                check_bubble(TRAINING_INTERLEAVED, stages, groups * stages, chunks);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(each_division_has_the_least_time_and_the_earliest_cuts, seeded_report),
        cmocka_unit_test(stages_of_chunks_are_nearly_as_short_as_possible),
        cmocka_unit_test(given_stages_are_taken),
        cmocka_unit_test(each_stage_needs_a_layer),
        cmocka_unit_test(passes_are_in_the_order_of_their_pipeline),
        cmocka_unit_test_teardown(passes_take_the_time_of_their_schedule, seeded_report),
        cmocka_unit_test(gpipe_and_1f1b_have_the_bubble_of_their_stages),
        cmocka_unit_test(interleaving_divides_the_bubble_by_its_chunks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
