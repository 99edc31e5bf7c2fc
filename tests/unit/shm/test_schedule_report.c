/* test_schedule_report.c - figures of schedules by purpose, and of what they train, against closed forms. */
#include "fabric-emu/report/schedule_report.h"
#include "tests/support/support_executed.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define MS  UINT64_C(1000000000)
#define BIG 1000000 /* bytes of an activation: a millisecond */

struct reported {
    struct executed executed;
    struct schedule_job job;
    uint32_t host[8];
    json_t *list, *only;
};

/* Executes on a network with a latency of 1 ms and a byte in 1 ns, and reports. */
static void report(struct reported *r, struct schedule_builder *b)
{
    struct executed_settings settings = executed_plain();
    settings.network = (struct estimate_network){.latency_ps = MS, .byte_ps = 1000};
    settings.window = EXECUTOR_WINDOW;
    *r = (struct reported){.list = NULL};
    executed_prepare(&r->executed, b, &settings);
    assert_true(schedule_estimate(&r->executed.plan, &settings.network));
    r->job = (struct schedule_job){.path = "x",
                                   .schedule = r->executed.s,
                                   .groups = r->executed.groups,
                                   .executor = r->executed.plan,
                                   .host = r->host};
    r->list = schedule_report_json(&(struct schedule_plan){.job = &r->job, .jobs = 1});
    r->only = json_array_get(r->list, 0);
}

static void end(struct reported *r)
{
    json_decref(r->list);
    executed_free(&r->executed);
}

static const json_t *at(const json_t *value, const char *key)
{
    const json_t *found = json_object_get(value, key);
    if (!found)
        fail_msg("no key '%s'", key);
    return found;
}

static void is_real(const json_t *value, const char *key, double expected)
{
    double found = json_number_value(at(value, key));
    if (!json_is_number(at(value, key)) || fabs(found - expected) > 1e-9 * fmax(1, expected))
        fail_msg("%s: %.12g, expected %.12g", key, found, expected);
}

static void is_null(const json_t *value, const char *key)
{
    assert_true(json_is_null(at(value, key)));
}

static void is_spread(const json_t *value, const char *key, double least, double mean, double most)
{
    is_real(at(value, key), "least", least);
    is_real(at(value, key), "mean", mean);
    is_real(at(value, key), "most", most);
}

/* GPipe: STAGES ranks and BATCHES micro-batches, forward 1 ms and backward 2 ms. */
enum { STAGES = 4, BATCHES = 5 };

static void add_passes(struct schedule_builder *b, uint32_t rank, int from, int to, uint64_t ps, uint32_t tag)
{
    uint32_t first = schedule_builder_count(b, rank);
    for (uint32_t batch = 0; batch < BATCHES; batch++) {
        bool waits = from >= 0 && from < STAGES;
        uint32_t before = 0;
        if (waits) {
            before = schedule_receive(b, rank, (uint32_t)from, BIG, tag + batch);
            assert_true(schedule_set_purpose(b, rank, before, "pipeline"));
        }
        uint32_t compute = schedule_compute(b, rank, ps, 0);
        if (waits)
            schedule_after(b, rank, compute, before);
        if (first)
            schedule_after(b, rank, compute, first - 1);
        if (to < 0 || to >= STAGES)
            continue;
        uint32_t send = schedule_send(b, rank, (uint32_t)to, BIG, tag + batch);
        schedule_after(b, rank, send, compute);
        assert_true(schedule_set_purpose(b, rank, send, "pipeline"));
    }
}

static struct schedule_builder *gpipe(void)
{
    struct schedule_builder *b = schedule_builder_new(STAGES);
    for (int rank = 0; rank < STAGES; rank++) {
        add_passes(b, (uint32_t)rank, rank - 1, rank + 1, MS, 0);
        add_passes(b, (uint32_t)rank, rank + 1, rank - 1, 2 * MS, BATCHES);
    }
    return b;
}

static void the_bubble_of_a_pipeline_is_the_closed_form(void **state)
{
    (void)state;
    struct reported r;
    struct schedule_builder *b = gpipe();
    schedule_set_work(b, 40, 40 * 2048, 3);
    report(&r, b);
    double seconds = json_number_value(at(r.only, "seconds"));
    is_real(r.only, "ideal_seconds", (STAGES - 1 + BATCHES) * 3e-3);
    is_real(r.only, "bubble_seconds", (STAGES - 1) * 3e-3);
    is_real(r.only, "samples", 120);
    is_real(r.only, "tokens", 120 * 2048);
    is_real(r.only, "training_iterations", 3);
    is_real(r.only, "samples_per_second", 120 / seconds);
    is_real(r.only, "tokens_per_second", 120 * 2048 / seconds);
    const json_t *purposes = at(r.only, "purposes");
    assert_int_equal(json_array_size(purposes), 1);
    const json_t *pipeline = json_array_get(purposes, 0);
    assert_string_equal(json_string_value(at(pipeline, "purpose")), "pipeline");
    is_real(pipeline, "messages", 2 * (STAGES - 1) * BATCHES);
    is_real(pipeline, "bytes", 2.0 * (STAGES - 1) * BATCHES * BIG);
    end(&r);
}

/* Rank 1 receives for 10 ms, 4 ms of them beside computing; rank 0 only sends, which takes no time. */
static void hidden_and_exposed_are_of_all_ranks(void **state)
{
    (void)state;
    struct reported r;
    struct schedule_builder *b = schedule_builder_new(2);
    (void)schedule_send(b, 0, 1, 9 * BIG, 0);
    assert_true(schedule_set_purpose(b, 0, 0, "tensor"));
    (void)schedule_receive(b, 1, 0, 9 * BIG, 0);
    assert_true(schedule_set_purpose(b, 1, 0, "tensor"));
    (void)schedule_compute(b, 1, 4 * MS, 0);
    (void)schedule_send(b, 1, 1, 5, 1);
    (void)schedule_receive(b, 1, 1, 5, 1);
    report(&r, b);
    assert_int_equal(json_array_size(at(r.only, "purposes")), 2);
    const json_t *tensor = json_array_get(at(r.only, "purposes"), 0);
    const json_t *other = json_array_get(at(r.only, "purposes"), 1);
    assert_string_equal(json_string_value(at(tensor, "purpose")), "tensor");
    assert_string_equal(json_string_value(at(other, "purpose")), "");
    is_spread(tensor, "seconds", 0, 5e-3, 10e-3);
    is_spread(tensor, "hidden_seconds", 0, 2e-3, 4e-3);
    is_spread(tensor, "exposed_seconds", 0, 3e-3, 6e-3);
    is_spread(other, "seconds", 0, 0, 0);
    is_real(other, "bytes", 5);
    is_null(r.only, "samples");
    is_null(r.only, "tokens_per_second");
    is_real(r.only, "ideal_seconds", 4e-3);
    is_real(r.only, "bubble_seconds", 2e-3);
    end(&r);
}

/* Without purposes and samples nothing is executed once more; nor if operations wait for ever. */
static void what_is_not_known_is_null(void **state)
{
    (void)state;
    struct reported r;
    struct schedule_builder *b = schedule_builder_new(1);
    (void)schedule_compute(b, 0, 4 * MS, 0);
    report(&r, b);
    is_null(r.only, "ideal_seconds");
    is_null(r.only, "bubble_seconds");
    is_real(r.only, "training_iterations", 1);
    assert_int_equal(json_array_size(at(r.only, "purposes")), 0);
    end(&r);
    b = schedule_builder_new(1);
    (void)schedule_receive(b, 0, SCHEDULE_ANY, 4, 0);
    (void)schedule_set_purpose(b, 0, 0, "data");
    schedule_set_work(b, 1, 0, 1);
    report(&r, b);
    is_real(r.only, "samples", 1);
    is_null(r.only, "samples_per_second");
    is_null(r.only, "ideal_seconds");
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bubble_of_a_pipeline_is_the_closed_form),
        cmocka_unit_test(hidden_and_exposed_are_of_all_ranks),
        cmocka_unit_test(what_is_not_known_is_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
