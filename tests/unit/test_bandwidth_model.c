/* test_bandwidth_model.c - what a model sends along the dimensions of a network: the sums are the volumes of the
 * training's closed forms (schedule/training/communication.h), the groups are where the model's ranks are. */
#include "tests/support/support_training.h"
#include "tools/bandwidth/from_model.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* %s: parallelism and more keys. */
static const char text[] = "model: m\n"
                           "samples: 576\n"
                           "%s\n"
                           "layers:\n"
                           "  - repeat: 4\n"
                           "    layers:\n"
                           "      - {name: a, parameters: 1048576, activations: 65536, forward: 2 ms, shard: columns, "
                           "context: 8192}\n"
                           "      - {name: b, parameters: 4194304, activations: 65536, forward: 1 ms, shard: experts, "
                           "routed: 131072}\n";

static struct training_model *model(const char *keys)
{
    char whole[2048];
    struct hx_problem problem;
    const int bytes = snprintf(whole, sizeof whole, text, keys);
    struct training_model *m =
        training_model_parse("m.model.yaml", whole, (size_t)bytes, &(struct schedule_read_options){0}, &problem);
    if (!m)
        fail_msg("%s: %s", problem.where, problem.what);
    return m;
}

static struct bandwidth_network network(const char *spec)
{
    struct bandwidth_network n;
    struct hx_problem problem;
    assert_true(bandwidth_network_read(&n, spec, &problem));
    return n;
}

static struct bandwidth_work work_of(const struct training_model *m, const struct bandwidth_network *n)
{
    struct bandwidth_work w;
    struct hx_problem problem;
    if (!bandwidth_work_of(&w, m, n, &problem))
        fail_msg("%s: %s", problem.where, problem.what);
    return w;
}

static double bytes_for(const struct bandwidth_work *w, const char *purpose)
{
    double bytes = 0;
    for (unsigned i = 0; i < w->needs; i++)
        bytes += strcmp(w->need[i].purpose, purpose) == 0 ? w->need[i].bytes : 0;
    return bytes;
}

static void near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%.12g, expected %.12g", value, expected);
}

static void the_sums_are_the_volumes(void **state)
{
    (void)state;
    static const char *const keys[] = {
        "parallelism: {tensor: 4, data: 16, expert: 4}\nzero: 2",
        "parallelism: {tensor: 2, context: 4, data: 8, expert: 8}\nzero: 3\nrecompute: true",
        "parallelism: {tensor: 4, data: 4, pipeline: 4, expert: 2}\npipeline: {micro_batches: 8}\nzero: 1",
        "parallelism: {tensor: 8, data: 4, pipeline: 2, order: [data, pipeline, tensor]}\npipeline: {schedule: "
        "interleaved, micro_batches: 4, chunks: 2}\nsequence_parallel: true\noverlap: false"};
    for (unsigned i = 0; i < sizeof keys / sizeof *keys; i++) {
        struct training_model *m = model(keys[i]);
        const struct bandwidth_network n = network("Ring(4)_FC(4)_Switch(4)");
        const struct bandwidth_work w = work_of(m, &n);
        const struct training_volume v = training_volume_of(m);
        static const char *const purposes[] = {"tensor", "context", "data", "expert"};
        for (unsigned p = 0; p < 4; p++) {
            double expected = 0;
            for (unsigned g = 0; g < TRAINING_GROUPS; g++)
                expected += strcmp(training_group_purpose[g], purposes[p]) == 0 ? v.bytes[g] : 0;
            near(bytes_for(&w, purposes[p]), expected);
        }
        near(bytes_for(&w, "pipeline"), v.pipeline_bytes);
        training_model_free(m);
    }
}

/* By hand: a stage each, so a rank of the first sends activations of two samples, and gradients of 600 parameters. */
static void tied_gradients_are_messages(void **state)
{
    (void)state;
    static const char file[] = "model: m\nsamples: 2\nparallelism: {pipeline: 2}\nlayers:\n"
                               "  - {name: a, parameters: 2000, activations: 70, forward: 1 ms}\n"
                               "  - {name: b, parameters: 1500, tied: 600, activations: 3, forward: 1 ms}\n";
    struct hx_problem problem;
    struct training_model *m =
        training_model_parse("m.model.yaml", file, sizeof file - 1, &(struct schedule_read_options){0}, &problem);
    assert_non_null(m);
    const struct bandwidth_network n = network("Switch(2)");
    const struct bandwidth_work w = work_of(m, &n);
    near(bytes_for(&w, "pipeline"), 2 * 2 * 70 + 2 * 600);
    training_model_free(m);
}

static const struct bandwidth_need *need_for(const struct bandwidth_work *w, const char *purpose)
{
    for (unsigned i = 0; i < w->needs; i++)
        if (strcmp(w->need[i].purpose, purpose) == 0)
            return &w->need[i];
    fail_msg("no %s", purpose);
    return NULL;
}

static void groups_are_where_the_ranks_are(void **state)
{
    (void)state;
    struct training_model *m = model("parallelism: {tensor: 8, data: 4, pipeline: 2, order: [data, tensor, pipeline]}");
    const struct bandwidth_network n = network("Ring(4)_FC(4)_Switch(4)");
    const struct bandwidth_work w = work_of(m, &n);
    const struct bandwidth_need *tensor = need_for(&w, "tensor"), *data = need_for(&w, "data");
    assert_int_equal(data->members[0], 4);
    assert_int_equal(data->members[1], 1);
    assert_int_equal(tensor->members[0], 1);
    assert_int_equal(tensor->members[1], 4);
    assert_int_equal(tensor->members[2], 2);
    assert_int_equal(tensor->stride[2], 16);
    assert_int_equal(need_for(&w, "pipeline")->members[2], 2);
    assert_int_equal(need_for(&w, "pipeline")->stride[2], 32);
    assert_true(data->data && !tensor->data);
    training_model_free(m);
}

/* 4 x (2 + 1) ms forward, twice that backward; the layers are those of one stage of two. */
static void computing_bubble_and_room(void **state)
{
    (void)state;
    const struct bandwidth_network n = network("Ring(4)_FC(4)_Switch(4)");
    struct training_model *m = model("parallelism: {tensor: 4, data: 16}\npipeline: {micro_batches: 4}\nzero: 2");
    struct bandwidth_work w = work_of(m, &n);
    near(w.computing, 4 * 36e-3);
    near(w.bubble, 1);
    near(w.room, 4 * (24e-3 - 4e-3)); /* behind each micro-batch, all but the first layer's */
    training_model_free(m);
    m = model("parallelism: {tensor: 4, data: 8, pipeline: 2}\npipeline: {micro_batches: 4}\nzero: 1\nupdate: 10 ms");
    w = work_of(m, &n);
    near(w.bubble, 5 / 4.0);
    near(w.computing, 4 * 18e-3 + 10e-3 / w.bubble);
    near(w.room, 12e-3 - 4e-3);
    training_model_free(m);
}

static void only_gradients_are_beside_computing(void **state)
{
    (void)state;
    const struct bandwidth_network n = network("Switch(64)");
    for (unsigned overlap = 0; overlap < 2; overlap++) {
        struct training_model *m =
            model(overlap ? "parallelism: {data: 64}\nzero: 2" : "parallelism: {data: 64}\nzero: 2\noverlap: false");
        const struct bandwidth_work w = work_of(m, &n);
        double beside = 0;
        for (unsigned i = 0; i < w.needs; i++)
            beside += w.need[i].beside ? w.need[i].bytes : 0;
        near(beside, overlap ? bytes_for(&w, "data") / 2 : 0);
        training_model_free(m);
    }
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    struct bandwidth_work w;
    struct hx_problem problem;
    struct training_model *m = model("parallelism: {tensor: 16, data: 4}");
    struct bandwidth_network n = network("Ring(4)_FC(4)");
    assert_false(bandwidth_work_of(&w, m, &n, &problem));
    assert_int_equal(problem.exit_code, HX_EXIT_CONFIG);
    assert_string_equal(problem.what, "trains on 64 ranks, but the network has 16 NPUs (tensor x context x data x "
                                      "pipeline are the ranks)");
    training_model_free(m);
    m = model("parallelism: {tensor: 4, data: 16}");
    n = network("Ring(32)_FC(2)");
    assert_true(bandwidth_work_of(&w, m, &n, &problem));
    n = network("FC(2)_Ring(32)");
    assert_true(bandwidth_work_of(&w, m, &n, &problem));
    training_model_free(m);
    m = model("parallelism: {tensor: 3, data: 6}");
    n = network("Ring(9)_FC(2)");
    assert_true(bandwidth_work_of(&w, m, &n, &problem));
    n = network("FC(2)_Ring(9)");
    assert_false(bandwidth_work_of(&w, m, &n, &problem));
    assert_non_null(strstr(problem.what, "a group of 3 ranks (tensor) does not fill dimensions of FC(2)_Ring(9)"));
    training_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sums_are_the_volumes),
        cmocka_unit_test(tied_gradients_are_messages),
        cmocka_unit_test(groups_are_where_the_ranks_are),
        cmocka_unit_test(computing_bubble_and_room),
        cmocka_unit_test(only_gradients_are_beside_computing),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
