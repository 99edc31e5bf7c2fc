/* prop_training - random models: groups of ranks, volumes by formula against the operations of the schedule,
 * collectives and messages that match and never wait for each other, and the schedule of stages against that of all
 * ranks. */
#include "schedule/matching.h"
#include "schedule/training/stages.h"
#include "schedule/walk.h"
#include "tests/support/support_effort.h"
#include "tests/support/support_executed.h"
#include "tests/support/support_seed.h"
#include "tests/support/support_training.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_RANKS = 24, CASES = 400, RING = HX_ALGORITHM_TREE + HX_BY_RING };

/* Calls check() with random models. */
static void for_random_models(uint32_t cases, void (*check)(struct training_model *m, uint64_t *seed))
{
    uint64_t first = seeded_by(1);
    for (seeded_run = first; seeded_run < first + effort(cases); seeded_run++) {
        uint64_t seed = split_mix(seeded_run);
        struct training_model *m = training_random(&seed, MOST_RANKS);
        check(m, &seed);
        training_model_free(m);
    }
    seeded_run = 0;
}

/* ---- ranks ---- */

/* Places are those of a count; its digit order[0] runs fastest. */
static void check_places(const struct training_model *m)
{
    struct training_place place = {.at = {0}};
    for (uint32_t rank = 0; rank < training_ranks(m); rank++) {
        struct training_place found = training_place_of(m, rank);
        assert_memory_equal(&found, &place, sizeof place);
        assert_int_equal(training_rank_at(m, place), rank);
        for (unsigned i = 0; i < TRAINING_AXES; i++) {
            enum training_axis axis = m->order[i];
            place.at[axis] = (place.at[axis] + 1) % m->parallel[axis];
            if (place.at[axis])
                break;
        }
    }
}

/* Whether two ranks are in one group, by their places. */
static bool share_group(const struct training_model *m, enum training_group group, uint32_t a, uint32_t b)
{
    struct training_place x = training_place_of(m, a);
    struct training_place y = training_place_of(m, b);
    uint32_t replica = x.at[TRAINING_CONTEXT] + m->parallel[TRAINING_CONTEXT] * x.at[TRAINING_DATA];
    uint32_t other = y.at[TRAINING_CONTEXT] + m->parallel[TRAINING_CONTEXT] * y.at[TRAINING_DATA];
    bool same_stage = x.at[TRAINING_PIPELINE] == y.at[TRAINING_PIPELINE];
    bool same_tensor = same_stage && x.at[TRAINING_TENSOR] == y.at[TRAINING_TENSOR];
    switch (group) {
    case TRAINING_GROUP_TENSOR:
        return same_stage && replica == other;
    case TRAINING_GROUP_CONTEXT:
        return same_tensor && x.at[TRAINING_DATA] == y.at[TRAINING_DATA];
    case TRAINING_GROUP_EXPERT:
        return same_tensor && replica / m->expert == other / m->expert;
    case TRAINING_GROUP_EXPERT_DATA:
        return same_tensor && replica % m->expert == other % m->expert;
    case TRAINING_GROUP_STAGE:
        return same_stage;
    default:
        return same_tensor;
    }
}

static void check_groups(struct training_model *m, uint64_t *seed)
{
    uint32_t ranks = training_ranks(m);
    uint32_t member[MOST_RANKS];
    (void)seed;
    check_places(m);
    for (enum training_group group = 0; group < TRAINING_GROUPS; group++) {
        for (uint32_t rank = 0; rank < ranks; rank++) {
            uint32_t size = training_group_size(m, group);
            uint32_t sharing = 0;
            uint32_t position = training_group_members(m, group, rank, member);
            assert_true(position < size);
            assert_int_equal(member[position], rank);
            for (uint32_t i = 0; i < ranks; i++)
                sharing += share_group(m, group, rank, i);
            assert_int_equal(sharing, size);
            for (uint32_t i = 0; i < size; i++) {
                assert_true(share_group(m, group, rank, member[i]));
                assert_int_equal(training_group_position(m, group, member[i]), i);
            }
        }
    }
}

static void groups_part_the_ranks(void **state)
{
    (void)state;
    for_random_models(CASES, check_groups);
}

/* ---- volumes ---- */

enum { TENSOR, CONTEXT, DATA, EXPERT, PIPELINE, PURPOSES };
static const char *const purposes[PURPOSES] = {"tensor", "context", "data", "expert", "pipeline"};

/* Bytes that a rank sends in an iteration by purpose, by formula. */
struct sums {
    double bytes[PURPOSES];
};

static double ceiling(double of, double by)
{
    return ceil(of / by);
}

/* Bytes of a micro-batch for each element of activations. */
static double sample_bytes(const struct training_model *m)
{
    uint64_t samples = m->samples / ((uint64_t)m->parallel[TRAINING_DATA] * m->micro_batches);
    return (double)(samples * m->activation_bytes);
}

/* Of a layer's tensor-, context- and expert-parallel communication. f, b: forward passes, with those that recomputing
 * repeats, and backward passes. */
static void expect_model(struct sums *s, const struct training_model *m, const struct training_layer *l, double f,
                         double b)
{
    double t = m->parallel[TRAINING_TENSOR];
    double c = m->parallel[TRAINING_CONTEXT];
    double r = c * m->parallel[TRAINING_DATA];
    double e = m->expert;
    double sample = sample_bytes(m);
    double part = (t - 1) / t;
    double whole = ceiling(sample * (double)l->activations, c);
    double routed = ceiling(sample * (double)l->routed, c);
    s->bytes[CONTEXT] += ceiling(sample * (double)l->context, t) * (c - 1) / c * (f + b);
    switch (l->shard) {
    case TRAINING_COLUMNS: /* an all-reduce sends as much as both that replace it */
        s->bytes[TENSOR] += 2 * part * whole * (f + b);
        break;
    case TRAINING_OUTPUT:
        s->bytes[TENSOR] += part * whole * (f + b);
        break;
    case TRAINING_EXPERTS:
        s->bytes[TENSOR] += (2 * part * routed + (m->sequence ? 0 : part * whole)) * (f + b);
        s->bytes[EXPERT] += 2 * ceiling(sample * (double)l->routed, c * t) * (e - 1) / e * (f + b);
        break;
    case TRAINING_TABLES:
        s->bytes[TENSOR] += whole * (r - 1) / r * (f + b);
        break;
    case TRAINING_SPACE:
        s->bytes[TENSOR] += ceiling(sample * (double)l->halo, c) * (t > 2 ? 2 : t - 1) * (f + b);
        break;
    default:
        break;
    }
}

/* Of a layer's gradients and parameters. */
static void expect_data(struct sums *s, const struct training_model *m, const struct training_layer *l)
{
    double t = m->parallel[TRAINING_TENSOR];
    double r = (double)m->parallel[TRAINING_CONTEXT] * m->parallel[TRAINING_DATA];
    double p = (double)l->parameters;
    double own = l->shard == TRAINING_COLUMNS || l->shard == TRAINING_OUTPUT ? ceiling(p, t)
                 : l->shard == TRAINING_EXPERTS                              ? ceiling(p, t * m->expert)
                                                                             : p;
    double tied = m->parallel[TRAINING_PIPELINE] > 1 ? 0
                  : l->shard == TRAINING_COLUMNS     ? ceiling((double)l->tied, t)
                                                     : (double)l->tied;
    double n = l->shard == TRAINING_EXPERTS ? r / m->expert : l->shard == TRAINING_SPACE ? r * t : r;
    double batches = m->micro_batches;
    static const double once[] = {2, 1, 0, 0};
    double gradients = m->zero < 2 ? once[m->zero] : batches;
    double parameters = m->zero == 0 ? 0 : m->zero == 3 ? 2 * batches : 1;
    if (l->shard != TRAINING_TABLES)
        s->bytes[DATA] += (n - 1) / n *
                          (gradients * (own - tied) * m->gradient_element_bytes +
                           parameters * (own - (m->zero == 3 ? 0 : tied)) * m->parameter_bytes);
}

/* What the first and the last of several stages send each other of tied gradients. */
static double tied_message(const struct training_model *m)
{
    const struct training_layer *l = &m->layer[m->layers - 1];
    double own =
        l->shard == TRAINING_COLUMNS ? ceiling((double)l->tied, m->parallel[TRAINING_TENSOR]) : (double)l->tied;
    double r = (double)m->parallel[TRAINING_CONTEXT] * m->parallel[TRAINING_DATA];
    return ceiling(own * m->gradient_element_bytes, m->zero >= 2 ? r : 1);
}

static double stage_message(const struct training_model *m, const struct training_layer *l)
{
    double sample = sample_bytes(m);
    double parts = m->sequence || l->shard == TRAINING_SPACE ? m->parallel[TRAINING_TENSOR] : 1;
    return ceiling(sample * (double)l->activations, parts * m->parallel[TRAINING_CONTEXT]);
}

static struct sums expect(const struct training_model *m, uint32_t stage)
{
    struct sums s = {.bytes = {0}};
    struct training_stages stages;
    struct hx_problem problem;
    double batches = m->micro_batches;
    assert_true(training_stages_make(&stages, m, &problem));
    for (uint32_t v = stage; v < stages.count; v += m->parallel[TRAINING_PIPELINE]) {
        for (uint32_t i = stages.first[v]; i < stages.first[v + 1]; i++) {
            expect_model(&s, m, &m->layer[i], (training_repeats_forward(m, &m->layer[i]) ? 2 : 1) * batches, batches);
            expect_data(&s, m, &m->layer[i]);
        }
        if (m->parallel[TRAINING_PIPELINE] == 1)
            continue;
        if (v > 0)
            s.bytes[PIPELINE] += batches * stage_message(m, &m->layer[stages.first[v] - 1]);
        if (v + 1 < stages.count)
            s.bytes[PIPELINE] += batches * stage_message(m, &m->layer[stages.first[v + 1] - 1]);
    }
    if (m->parallel[TRAINING_PIPELINE] > 1 && (stage == 0 || stage + 1 == m->parallel[TRAINING_PIPELINE]))
        s.bytes[PIPELINE] += tied_message(m);
    training_stages_free(&stages);
    return s;
}

/* Sums the operations of a rank. */
static struct sums count(const struct schedule *s, uint32_t rank)
{
    struct sums sums = {.bytes = {0}};
    struct schedule_walk walk;
    schedule_walk_begin(&walk, s, rank);
    while (schedule_walk_next(&walk)) {
        const struct schedule_operation *o = walk.operation;
        double bytes = (double)o->amount * (double)walk.times;
        unsigned purpose = 0;
        if (o->kind != SCHEDULE_SEND && o->kind != SCHEDULE_COLLECTIVE)
            continue;
        while (strcmp(purposes[purpose], schedule_purpose(s, o)) != 0)
            assert_true(++purpose < PURPOSES);
        if (o->kind == SCHEDULE_COLLECTIVE) {
            double n = schedule_group_size(s, o->peer);
            bytes *= (o->collective == HX_ALL_REDUCE ? 2 : 1) * (n - 1) / n;
        }
        sums.bytes[purpose] += bytes;
    }
    schedule_walk_end(&walk);
    return sums;
}

static void assert_near(double a, double b)
{
    if (fabs(a - b) > 1e-9 * (1 + fabs(a)))
        fail_msg("%.17g is not %.17g", a, b);
}

/* The volume of the stage that sends the most is that of the closed forms. */
static void check_most(const struct training_model *m)
{
    const struct training_volume volume = training_volume_of(m);
    struct sums own = {.bytes = {[PIPELINE] = volume.pipeline_bytes}};
    double most = 0;
    double all = volume.pipeline_bytes;
    for (unsigned i = 0; i < TRAINING_GROUPS; i++) {
        for (unsigned p = 0; p < PURPOSES; p++)
            own.bytes[p] += strcmp(purposes[p], training_group_purpose[i]) == 0 ? volume.bytes[i] : 0;
        all += volume.bytes[i];
    }
    for (uint32_t stage = 0; stage < m->parallel[TRAINING_PIPELINE]; stage++) {
        struct sums s = expect(m, stage);
        double sum = 0;
        for (unsigned p = 0; p < PURPOSES; p++)
            sum += s.bytes[p];
        for (unsigned p = 0; p < PURPOSES && fabs(sum - all) < 1e-9 * all; p++)
            assert_near(own.bytes[p], s.bytes[p]);
        most = sum > most ? sum : most;
    }
    assert_near(all, most);
}

static void check_volumes(struct training_model *m, uint64_t *seed)
{
    struct hx_problem problem;
    (void)seed;
    if (m->parallel[TRAINING_TENSOR] == 3) /* the second of three has one neighbour */
        m->parallel[TRAINING_TENSOR] = 1;
    struct schedule *s = schedule_build(training_built(m, NULL), "test", &problem);
    assert_non_null(s);
    for (uint32_t rank = 0; rank < training_ranks(m); rank++) {
        struct sums expected = expect(m, training_place_of(m, rank).at[TRAINING_PIPELINE]);
        struct sums counted = count(s, rank);
        for (unsigned p = 0; p < PURPOSES; p++)
            assert_near(counted.bytes[p], expected.bytes[p] * m->iterations);
    }
    check_most(m);
    schedule_close(s);
}

static void operations_send_what_the_formulas_say(void **state)
{
    (void)state;
    for_random_models(CASES, check_volumes);
}

/* ---- matching, deadlocks, times ---- */

/* Executes on an ideal network; each rank has to come to its end. Returns the end. */
static uint64_t execute(struct schedule_builder *b, const struct estimate_network *network, uint64_t eager)
{
    struct executed_settings settings = executed_plain();
    settings.network = *network;
    settings.costs.eager = eager;
    struct executed r = executed_of(b, &settings);
    uint64_t end = executed_end(&r);
    executed_free(&r);
    return end;
}

static void check_matching(struct training_model *m, uint64_t *seed)
{
    struct hx_problem problem = {.what = ""};
    struct schedule *s = schedule_build(training_built(m, NULL), "test", &problem);
    (void)seed;
    if (!s || !schedule_check_matching(s, "test", &problem))
        fail_msg("%s", problem.what);
    schedule_close(s);
}

static void messages_and_collectives_match(void **state)
{
    (void)state;
    for_random_models(CASES, check_matching);
}

/* Sends that end at once, and sends that wait for their receives. The latter are no faster, but in pairs: two passes
 * want the same stream, and a later message may change their order to a better one (Graham 1969). */
static void check_end(struct training_model *m, uint64_t *seed)
{
    const struct estimate_network network = {.latency_ps = seeded_below(seed, 300), .byte_ps = 0.1};
    uint64_t eager = execute(training_built(m, NULL), &network, SCHEDULE_MOST_BYTES);
    uint64_t late = execute(training_built(m, NULL), &network, 0);
    assert_true(late >= (m->pairs ? eager - eager / 10 : eager));
}

static void no_rank_waits_for_ever(void **state)
{
    (void)state;
    for_random_models(CASES / 8, check_end);
}

/* ---- the schedule of stages ---- */

/* Time of a collective alone, with the algorithm of make_even(). */
static uint64_t alone_ps(void *of, const struct training_communication *c)
{
    const struct estimate_network network = {.latency_ps = 100, .byte_ps = 0.001};
    uint32_t size = training_group_size(of, c->group);
    struct schedule_builder *b = schedule_builder_new(size);
    uint32_t member[MOST_RANKS];
    for (uint32_t i = 0; i < size; i++)
        member[i] = i;
    uint32_t number = schedule_add_group(b, member, size);
    for (uint32_t i = 0; i < size; i++) {
        uint32_t collective = schedule_collect(b, i, c->kind, number, c->bytes, 0);
        if (c->kind != HX_COLLECTIVE_ALL_TO_ALL)
            schedule_builder_at(b, i, collective)->algorithm = RING;
    }
    return execute(b, &network, SCHEDULE_MOST_BYTES);
}

static uint64_t halo_ps(void *of, enum training_group group, uint64_t bytes)
{
    (void)of;
    (void)group;
    return 100 + (uint64_t)llround((double)bytes * 0.001);
}

/* Short vectors that each group cuts into equal parts, by rings: so its members are alike. */
static void make_even(struct training_model *m)
{
    enum { EVEN = 512 * 81, MOST = 3 };
    m->gradient_element_bytes = m->parameter_bytes = 4;
    m->gradient_bytes = m->gradient_bytes % MOST * EVEN;
    for (unsigned i = 0; i <= TRAINING_AXES; i++)
        m->algorithm[i] = RING;
    for (uint32_t i = 0; i < m->layers; i++) {
        struct training_layer *l = &m->layer[i];
        l->parameters = l->parameters % MOST * EVEN;
        l->activations = l->activations % MOST * EVEN;
        l->halo = l->halo % MOST * EVEN;
        l->routed = l->routed % MOST * EVEN;
        l->context = l->context % MOST * EVEN;
    }
}

/* A collective of stages occupies a stream of its group, so what runs beside another there may end later: gatherings
 * and sums of splits, twice at most. Then the two passes of a pair may compute in another order. */
static void check_timed(struct training_model *m, uint64_t *seed)
{
    const struct estimate_network network = {.latency_ps = 100, .byte_ps = 0.001};
    const struct training_timing timing = {.collective_ps = alone_ps, .halo_ps = halo_ps, .of = m};
    (void)seed;
    make_even(m);
    uint64_t stages = execute(training_built(m, &timing), &network, SCHEDULE_MOST_BYTES);
    uint64_t all = execute(training_built(m, NULL), &network, SCHEDULE_MOST_BYTES);
    if (m->tensor_splits > 1 && m->parallel[TRAINING_TENSOR] > 1)
        assert_in_range(stages, all - all / 4, 2 * all);
    else if (m->pairs)
        assert_in_range(stages, all - all / 4, all + all / 2);
    else if (m->zero < 2 || !m->overlap)
        assert_int_equal(stages, all);
    else
        assert_true(stages >= all);
}

static void stages_alone_take_the_time_of_all_ranks(void **state)
{
    (void)state;
    for_random_models(CASES / 8, check_timed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(groups_part_the_ranks, seeded_report),
        cmocka_unit_test_teardown(operations_send_what_the_formulas_say, seeded_report),
        cmocka_unit_test_teardown(messages_and_collectives_match, seeded_report),
        cmocka_unit_test_teardown(no_rank_waits_for_ever, seeded_report),
        cmocka_unit_test_teardown(stages_alone_take_the_time_of_all_ranks, seeded_report),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
