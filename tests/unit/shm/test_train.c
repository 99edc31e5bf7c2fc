/* test_train.c - estimates of `hxmesh train` (tools/train): against closed forms, of models against all their ranks,
 * and the groups that fill links together. */
#include "schedule/build.h"
#include "schedule/training/generate.h"
#include "tests/support/support_effort.h"
#include "tests/support/support_file.h"
#include "tools/train/estimate.h"
#include "tools/train/network.h"
#include "tools/train/timed.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

/* A fabric without jobs. */
struct bench {
    struct hx_spec spec;
    struct hx_settings settings;
    struct hx_timing timing;
    struct traffic traffic;
    struct network *network;
    struct hx_problem problem;
};

static void open_bench(struct bench *b, const char *fabric)
{
    const struct hx_timing timing = HX_DEFAULT_TIMING;
    *b = (struct bench){.settings = hx_default_settings, .timing = hx_timing_complete(&timing)};
    assert_true(hx_spec_try_load(fabric, NULL, &b->spec, &b->problem));
    b->settings.pattern = HX_SCHEDULE;
    b->settings.clock = HX_CLOCK_VIRTUAL;
    traffic_init(&b->traffic, &b->spec, hx_spec_fabric(&b->spec), &b->settings, NULL);
    b->network = network_open(&b->traffic, &b->timing, HX_ALGORITHM_BEST);
}

static void close_bench(struct bench *b)
{
    network_close(b->network);
    traffic_free(&b->traffic);
    hx_spec_free(&b->spec);
}

/* What is spent is of no use here. */
static struct train_estimate estimate(struct bench *b, const struct train_job *job)
{
    struct train_estimate e = {.seconds = 0};
    const bool good = train_estimate_make(&e, job, &b->spec, &b->settings, &b->timing, NULL, &b->problem);
    if (!good)
        print_message("%s: %s\n", b->problem.where, b->problem.what);
    assert_true(good);
    spent_free(&e.spent);
    return e;
}

static void assert_near(double a, double b, double share)
{
    if (fabs(a - b) > share * fabs(b))
        print_message("%.12g is not %.12g\n", a, b);
    assert_true(fabs(a - b) <= share * fabs(b));
}

static void read_job(struct train_job *job, const char *path, const char *set)
{
    struct schedule_read_options options = {.ranks = 0};
    struct hx_problem problem;
    if (set)
        options.set = (struct hx_option_list){{set}, 1};
    const bool good = train_job_read(job, path, &options, &problem);
    if (!good)
        print_message("%s: %s\n", problem.where, problem.what);
    assert_true(good);
}

/* ---- jobs ---- */

/* A model by one rank of each stage, with the slowest routes of all, and its schedule of all ranks. */
static void a_model_is_estimated_as_all_its_ranks_are(void **state)
{
    (void)state;
    static const char *const fabrics[] = {"8x4 Hx2Mesh", "fat-tree hosts=128 radix=16 taper=3", "torus 16x8"};
    static const char *const models[] = {"examples/models/gpt-13b.model.yaml",
                                         "examples/models/mixtral-8x7b.model.yaml"};
    /* Minutes under a sanitizer; the pipeline's closed form takes the same path. */
    if (effort_is_quick() && EFFORT_SHARE > 1)
        skip();
    for (unsigned m = 0; m < effort(sizeof models / sizeof *models); m++) {
        struct train_job model;
        struct hx_problem problem;
        read_job(&model, models[m], NULL);
        struct train_job all = model;
        all.model = NULL;
        all.schedule = schedule_build(training_generate(model.model, NULL, &problem), models[m], &problem);
        assert_non_null(all.schedule);
        for (unsigned i = 0; i < effort(sizeof fabrics / sizeof *fabrics); i++) {
            struct bench b;
            open_bench(&b, fabrics[i]);
            b.settings.compute_scale = i == 1 ? 0.5 : 1;
            const struct train_estimate one = estimate(&b, &model);
            const struct train_estimate each = estimate(&b, &all);
            assert_near(one.seconds, each.seconds, 1e-3);
            assert_true(one.seconds > each.seconds * (1 - 1e-9));
            assert_near(one.ideal, each.ideal, 1e-9);
            assert_near(one.computing, each.computing, 1e-9);
            assert_true(one.seconds > one.ideal && one.ideal >= one.computing);
            close_bench(&b);
        }
        schedule_close(all.schedule);
        train_job_free(&model);
    }
}

/* GPipe of 4 stages and 8 micro-batches: 11 times forward and backward, of which a rank computes 8. */
static void a_pipeline_has_its_closed_form(void **state)
{
    (void)state;
    struct train_job job;
    struct bench b;
    read_job(&job, "examples/schedules/pipeline-data.schedule.yaml", "activation=1");
    open_bench(&b, "2x2 Hx2Mesh");
    b.settings.compute_scale = 2;
    const struct train_estimate e = estimate(&b, &job);
    assert_near(e.ideal, 2 * 11 * 15e-3, 1e-9);
    assert_near(e.computing, 2 * 8 * 15e-3, 1e-9);
    assert_true(e.seconds > e.ideal);
    close_bench(&b);
    train_job_free(&job);
}

static void iterations_are_those_of_the_head_or_of_repeats(void **state)
{
    (void)state;
    struct train_job job;
    read_job(&job, "examples/schedules/data-parallel.schedule.yaml", "iterations=7");
    assert_int_equal(job.iterations, 7);
    assert_int_equal(job.samples, 0);
    assert_null(job.model);
    train_job_free(&job);
    read_job(&job, "examples/models/gpt-13b.model.yaml", NULL);
    assert_null(job.schedule);
    assert_int_equal(job.iterations, 1);
    assert_int_equal(job.ranks, 128);
    assert_int_equal(job.dimension[0] * job.dimension[1] * job.dimension[2], 128);
    assert_int_equal(job.tokens, 32 * 2048);
    train_job_free(&job);
}

static void more_ranks_than_hosts_are_refused(void **state)
{
    (void)state;
    struct train_job job;
    struct train_estimate e;
    struct bench b;
    read_job(&job, "examples/models/gpt-13b.model.yaml", NULL);
    open_bench(&b, "4x4 Hx2Mesh");
    assert_false(train_estimate_make(&e, &job, &b.spec, &b.settings, &b.timing, NULL, &b.problem));
    assert_int_equal(b.problem.exit_code, HX_EXIT_CONFIG);
    assert_string_equal(b.problem.what, "has 128 ranks, but only 64 accelerators are there");
    close_bench(&b);
    train_job_free(&job);
}

/* ---- messages ---- */

enum { LEAF = 12, HOSTS = 48, BYTES = 1 << 26 }; /* of a fat tree: its leaves have a third of the links up */
#define TAPERED     "fat-tree hosts=48 radix=16 taper=3"
#define NONBLOCKING "fat-tree hosts=48 radix=24"
#define BYTE_PS     20.0 /* of 400 Gb/s */

static double seconds_of_message(struct bench *b, uint32_t from, uint32_t to)
{
    const struct network_route route = network_route_of(b->network, from, to);
    return (double)network_message_ps(&route, BYTES) / 1e12;
}

/* Hosts of all leaves send to the next leaf: three share a link up. */
static void messages_share_the_links_of_their_paths(void **state)
{
    (void)state;
    static const struct {
        const char *fabric;
        double times;
    } cases[] = {{NONBLOCKING, 1}, {TAPERED, 3}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bench b;
        open_bench(&b, cases[i].fabric);
        assert_near(seconds_of_message(&b, 0, LEAF), BYTES * BYTE_PS * 1e-12, 0.01);
        for (uint32_t host = 0; host < HOSTS; host++)
            network_add_pair(b.network, host, (host + LEAF) % HOSTS, 1);
        assert_near(seconds_of_message(&b, 0, LEAF), cases[i].times * BYTES * BYTE_PS * 1e-12, 0.01);
        close_bench(&b);
    }
}

/* ---- collectives ---- */

/* ps of an all-reduce by a ring of the first `count` of LEAF groups: one host of each leaf. */
static uint64_t ring_ps(struct bench *b, uint32_t count)
{
    uint32_t host[HOSTS];
    uint64_t ps = 0;
    for (uint32_t i = 0; i < HOSTS; i++)
        host[i] = i % (HOSTS / LEAF) * LEAF + i / (HOSTS / LEAF);
    const struct network_collective c = {.family = network_add_family(b->network, HOSTS / LEAF, count, host),
                                         .kind = HX_ALL_REDUCE,
                                         .algorithm = HX_ALGORITHM_TREE + HX_BY_RING,
                                         .bytes = BYTES};
    assert_true(network_collective_ps(b->network, &c, &ps, &b->problem));
    return ps;
}

static void groups_of_a_family_share_links(void **state)
{
    (void)state;
    const double alone = 2 * 3 / 4.0 * BYTES * BYTE_PS;
    struct bench b;
    open_bench(&b, NONBLOCKING);
    assert_near((double)ring_ps(&b, 1), alone, 0.05);
    assert_near((double)ring_ps(&b, LEAF), alone, 0.05);
    close_bench(&b);
    open_bench(&b, TAPERED);
    assert_near((double)ring_ps(&b, 1), alone, 0.05);
    assert_near((double)ring_ps(&b, LEAF), 3 * alone, 0.05);
    close_bench(&b);
}

/* A module that adds the groups of a model again finds what is known of them. */
static void equal_families_have_one_number(void **state)
{
    (void)state;
    static const uint32_t host[] = {0, 1, 2, 3}, other[] = {0, 1, 3, 2};
    struct bench b;
    open_bench(&b, NONBLOCKING);
    const unsigned family = network_add_family(b.network, 2, 2, host);
    assert_true(network_add_family(b.network, 2, 2, other) != family);
    assert_true(network_add_family(b.network, 2, 1, host) != family);
    assert_true(network_add_family(b.network, 4, 1, host) != family);
    assert_int_equal(network_add_family(b.network, 2, 2, host), family);
    close_bench(&b);
}

/* Halos on a line: to the next host and back, and to the one after it. */
static void a_halo_goes_to_all_neighbours_at_once(void **state)
{
    (void)state;
    static const uint32_t host[] = {0, 1, 2, 3};
    struct bench b;
    open_bench(&b, "fat-tree hosts=8 radix=16");
    const unsigned family = network_add_family(b.network, 4, 1, host);
    const double one = (double)network_halo_ps(b.network, family, 1, BYTES);
    assert_near(one, BYTES * BYTE_PS, 0.01);
    assert_near((double)network_halo_ps(b.network, family, 2, BYTES), 2 * one, 0.01);
    close_bench(&b);
}

/* ---- timed schedules ---- */

static void collectives_become_computing_on_a_stream_of_their_group(void **state)
{
    (void)state;
    static const uint32_t both[] = {0, 1}, own[] = {0};
    struct schedule_builder *builder = schedule_builder_new(2);
    struct hx_problem problem;
    const uint32_t pair = schedule_add_group(builder, both, 2);
    const uint32_t single = schedule_add_group(builder, own, 1);
    for (uint32_t rank = 0; rank < 2; rank++) {
        const uint32_t first = schedule_compute(builder, rank, 1000, 3);
        const uint32_t sum = schedule_collect(builder, rank, HX_ALL_REDUCE, pair, BYTES, 0);
        schedule_after(builder, rank, sum, first);
    }
    (void)schedule_collect(builder, 0, HX_ALL_REDUCE, single, BYTES, 0);
    struct schedule *s = schedule_build(builder, "test", &problem);
    struct bench b;
    open_bench(&b, "2x2 Hx2Mesh");
    struct schedule *wide = timed_make(s, b.network, both, 1, &problem);
    assert_true(schedule_at(wide, 0, 1)->stream != schedule_at(wide, 0, 2)->stream);
    schedule_close(wide);
    close_bench(&b);
    open_bench(&b, "fat-tree hosts=8 radix=16"); /* hosts with one link: all groups in turn */
    struct schedule *timed = timed_make(s, b.network, both, 0.5, &problem);
    assert_non_null(timed);
    assert_int_equal(schedule_at(s, 0, 1)->kind, SCHEDULE_COLLECTIVE);
    assert_int_equal(schedule_at(timed, 0, 0)->amount, 500);
    assert_int_equal(schedule_at(timed, 0, 0)->stream, 3);
    assert_int_equal(schedule_at(timed, 1, 1)->kind, SCHEDULE_COMPUTE);
    assert_near((double)schedule_at(timed, 1, 1)->amount, BYTES * BYTE_PS, 0.05);
    assert_int_equal(schedule_at(timed, 0, 1)->stream, schedule_at(timed, 0, 2)->stream);
    assert_true(schedule_at(timed, 0, 1)->stream != 3);
    assert_int_equal(schedule_at(timed, 0, 2)->amount, 0);
    assert_int_equal(schedule_at(timed, 0, 1)->waits, 1);
    schedule_close(timed);
    schedule_close(s);
    close_bench(&b);
}

/* Pairs that were added: [from][to] the sum of weights. */
static double pairs[3][3];

static void note_pair(const void *of, uint32_t from, uint32_t to, double weight)
{
    assert_null(of);
    pairs[from][to] += weight;
}

static void a_sender_divides_its_time_among_its_receivers(void **state)
{
    (void)state;
    struct schedule_builder *builder = schedule_builder_new(3);
    struct hx_problem problem;
    for (unsigned i = 0; i < 2; i++)
        (void)schedule_send(builder, 0, 1, BYTES, 0);
    (void)schedule_send(builder, 0, 2, 1, 0);
    (void)schedule_send(builder, 1, 0, 1, 0);
    (void)schedule_send(builder, 2, 2, 1, 0);
    struct schedule *s = schedule_build(builder, "test", &problem);
    timed_each_pair(s, note_pair, NULL);
    for (unsigned from = 0; from < 3; from++) {
        for (unsigned to = 0; to < 3; to++)
            assert_near(pairs[from][to], from == 0 && to ? 0.5 : from == 1 && to == 0, 1e-12);
    }
    schedule_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_model_is_estimated_as_all_its_ranks_are),
                                       cmocka_unit_test(a_pipeline_has_its_closed_form),
                                       cmocka_unit_test(iterations_are_those_of_the_head_or_of_repeats),
                                       cmocka_unit_test(more_ranks_than_hosts_are_refused),
                                       cmocka_unit_test(messages_share_the_links_of_their_paths),
                                       cmocka_unit_test(groups_of_a_family_share_links),
                                       cmocka_unit_test(equal_families_have_one_number),
                                       cmocka_unit_test(a_halo_goes_to_all_neighbours_at_once),
                                       cmocka_unit_test(collectives_become_computing_on_a_stream_of_their_group),
                                       cmocka_unit_test(a_sender_divides_its_time_among_its_receivers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
