/* test_schedule_run.c - schedules on a fabric under the virtual clock: a schedule of a pattern or a collective takes
 * the time of that pattern or collective; streams, jobs, placements, and what waits for ever. */
#include "fabric-emu/report/critical_path.h"
#include "fabric-emu/report/schedule_report.h"
#include "schedule/build.h"
#include "tests/support/support_effort.h"
#include "tests/support/support_file.h"
#include "tests/support/virtual/support_virtual.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define US UINT64_C(1000000)

enum { SAME_ROUTES = HX_GIVEN_SELECT | HX_GIVEN_INJECTION_RATE };

/* Writes the schedule, as a file of the run or of a job, and frees the builder. */
static const char *written(struct schedule_builder *b, const char *name)
{
    struct hx_problem problem;
    struct schedule *s = schedule_build(b, "test", &problem);
    if (!s)
        fail_msg("%s", problem.what);
    schedule_write(s, file_path(name));
    schedule_close(s);
    return file_path(name);
}

static struct support_virtual_plan plan_of(const char *spec, const char *path)
{
    return (struct support_virtual_plan){.spec = spec,
                                         .settings = {.pattern = HX_SCHEDULE,
                                                      .traffic_file = path,
                                                      .select = HX_SELECT_ADAPTIVE,
                                                      .injection_rate = 1,
                                                      .given = HX_GIVEN_PATTERN | SAME_ROUTES}};
}

/* Runs to the end of all operations; returns the time of the last message. */
static uint64_t time_of(const struct support_virtual_plan *plan)
{
    struct support_virtual s;
    support_virtual_open(&s, plan);
    assert_true(support_virtual_run(&s) && support_virtual_whole(&s));
    assert_true(!s.workload.schedule || schedule_plan_is_done(&s.schedule));
    uint64_t end = support_virtual_end(&s);
    support_virtual_close(&s);
    return end;
}

/* ---- patterns and collectives ---- */

static struct schedule_builder *messages_of(const struct traffic *t)
{
    struct schedule_builder *b = schedule_builder_new(t->g->hosts);
    for (uint32_t rank = 0; rank < t->g->hosts; rank++) {
        for (uint64_t n = 0; n < traffic_messages(t, rank); n++) {
            uint32_t to = traffic_destination(t, rank, n);
            (void)schedule_send(b, rank, to, traffic_bytes(t, rank, n), 0);
            (void)schedule_receive(b, to, rank, traffic_bytes(t, rank, n), 0);
        }
    }
    return b;
}

/* Times of a pattern, and of the independent messages that it consists of. With more than HX_PEER_WINDOW messages to
 * one host they would differ: a pattern's later messages wait, independent ones do not. So the hotspot is a small
 * one. */
static void compare_pattern(enum hx_pattern pattern, unsigned workers)
{
    static const char spec[] = "4x2 Hx2Mesh";
    struct support_virtual s;
    struct support_virtual_plan plan = plan_of(spec, NULL);
    plan.workers = workers;
    plan.settings.pattern = pattern;
    plan.settings.message = 40000;
    plan.settings.count = 2;
    plan.settings.hotspot = 0.01;
    plan.settings.given |= HX_GIVEN_MESSAGE | HX_GIVEN_COUNT | HX_GIVEN_HOTSPOT;
    uint64_t expected = time_of(&plan);
    assert_true(expected > 0);
    support_virtual_open(&s, &plan);
    struct support_virtual_plan as_schedule = plan_of(spec, written(messages_of(&s.traffic), "pattern.schedule"));
    support_virtual_close(&s);
    as_schedule.workers = workers;
    uint64_t found = time_of(&as_schedule);
    uint64_t apart = found > expected ? found - expected : expected - found;
    if (100 * apart > expected)
        fail_msg("%s: %" PRIu64 " ps, as a schedule %" PRIu64 " ps", hx_pattern_names[pattern], expected, found);
}

static void patterns_take_their_time(void **state)
{
    (void)state;
    for (enum hx_pattern pattern = HX_ALL_TO_ALL; pattern < HX_FLOWS; pattern++)
        compare_pattern(pattern, 1);
    compare_pattern(HX_PERMUTATION, 2);
}

static struct schedule_builder *collective_of(uint32_t ranks, enum hx_collective_kind kind, unsigned algorithm,
                                              uint64_t bytes)
{
    struct schedule_builder *b = schedule_builder_new(ranks);
    uint32_t *list = hx_allocate(ranks, sizeof *list);
    for (uint32_t i = 0; i < ranks; i++)
        list[i] = i;
    uint32_t group = schedule_add_group(b, list, ranks);
    for (uint32_t i = 0; i < ranks; i++) {
        uint32_t o = schedule_collect(b, i, kind, group, bytes, 0);
        schedule_builder_at(b, i, o)->algorithm = (uint8_t)algorithm;
    }
    free(list);
    return b;
}

static void compare_collective(enum hx_collective_kind kind, unsigned algorithm)
{
    static const char spec[] = "2x2 Hx2Mesh";
    bool by_bytes =
        kind == HX_GATHER || kind == HX_SCATTER || kind == HX_COLLECTIVE_ALL_TO_ALL; /* in a schedule; else by floats */
    struct support_virtual_plan plan = plan_of(spec, NULL);
    plan.settings.pattern = HX_COLLECTIVES + kind;
    plan.settings.algorithm = algorithm;
    plan.settings.message = kind == HX_BARRIER ? 0 : by_bytes ? 16 * 6400 : 100000;
    plan.settings.given |= HX_GIVEN_MESSAGE | HX_GIVEN_ALGORITHM;
    uint64_t bytes = plan.settings.message;
    uint64_t expected = time_of(&plan);
    assert_true(expected > 0);
    plan = plan_of(spec, written(collective_of(16, kind, algorithm, bytes), "collective.schedule"));
    for (plan.workers = 1; plan.workers <= 2; plan.workers++) {
        uint64_t found = time_of(&plan);
        if (found != expected)
            fail_msg("%s by %s: %" PRIu64 " ps, as a schedule %" PRIu64 " ps", hx_collective_kind_names[kind],
                     hx_algorithm_names[algorithm], expected, found);
    }
}

static void collectives_take_exactly_their_time(void **state)
{
    (void)state;
    enum { ALGORITHMS = HX_ALGORITHMS - HX_ALGORITHM_BEST, CASES = HX_COLLECTIVE_KINDS * ALGORITHMS };
    for (unsigned n = 0; n < effort_few(CASES / 4, CASES); n++) {
        const unsigned kind = effort_case(n, CASES) / ALGORITHMS;
        const unsigned algorithm = HX_ALGORITHM_BEST + effort_case(n, CASES) % ALGORITHMS;
        if (schedule_has_kind(algorithm, kind))
            compare_collective(kind, algorithm);
    }
}

/* ---- order ---- */

/* Each rank computes twice. With `after` its message waits for all of it, else it leaves beside the second half. */
static struct schedule_builder *overlapping(bool after)
{
    struct schedule_builder *b = schedule_builder_new(2);
    for (uint32_t rank = 0; rank < 2; rank++) {
        uint32_t first = schedule_compute(b, rank, 100 * US, 0);
        uint32_t second = schedule_compute(b, rank, 100 * US, 0);
        uint32_t send = schedule_send(b, rank, 1 - rank, 4 << 20, 7);
        (void)schedule_receive(b, rank, 1 - rank, 4 << 20, 7);
        schedule_after(b, rank, second, first);
        schedule_after(b, rank, send, after ? second : first);
    }
    return b;
}

static void messages_overlap_with_computing(void **state)
{
    (void)state;
    struct support_virtual s[2];
    struct support_virtual_plan plan[2];
    for (unsigned after = 0; after < 2; after++) {
        plan[after] = plan_of("1x1 Hx2Mesh", written(overlapping(after), "overlap.schedule"));
        support_virtual_open(&s[after], &plan[after]);
        assert_true(support_virtual_run(&s[after]) && schedule_plan_is_done(&s[after].schedule));
    }
    const struct executor_result *beside = &s[0].schedule.job[0].executor.result[0];
    const struct executor_result *behind = &s[1].schedule.job[0].executor.result[0];
    assert_true(beside->computing_ps == 200 * US && behind->computing_ps == 200 * US);
    assert_true(beside->end_ps == 200 * US);
    assert_true(behind->end_ps > 280 * US); /* 4 MiB by a link of 400 Gb/s */
    assert_true(behind->exposed_ps == behind->end_ps - 200 * US);
    support_virtual_close(&s[0]);
    support_virtual_close(&s[1]);
}

/* ---- jobs, payload, deadlock ---- */

/* Rank 0 sends to every other, which then computes. */
static struct schedule_builder *fan_out(uint32_t ranks, uint64_t ps)
{
    struct schedule_builder *b = schedule_builder_new(ranks);
    for (uint32_t rank = 1; rank < ranks; rank++) {
        (void)schedule_send(b, 0, rank, 50001, rank);
        uint32_t receive = schedule_receive(b, rank, 0, 50001, rank);
        schedule_after(b, rank, schedule_compute(b, rank, ps, 0), receive);
    }
    return b;
}

static void jobs_have_schedules_of_their_own(void **state)
{
    (void)state;
    char first[FILE_PATH_BYTES + 8];
    char second[FILE_PATH_BYTES + 8];
    (void)snprintf(first, sizeof first, "a: 2 %s", written(fan_out(8, 30 * US), "first.schedule"));
    (void)snprintf(second, sizeof second, "b: 1 %s", written(fan_out(4, 50 * US), "second.schedule"));
    const struct hx_option_list jobs = {.item = {first, second, "c: 1 permutation"}, .count = 3};
    struct support_virtual s;
    const struct support_virtual_plan plan = {.spec = "2x2 Hx2Mesh", .jobs = &jobs};
    support_virtual_open(&s, &plan);
    assert_true(support_virtual_run(&s) && support_virtual_whole(&s) && schedule_plan_is_done(&s.schedule));
    assert_int_equal(s.schedule.jobs, 2);
    assert_true(s.schedule.job[0].executor.result[7].end_ps / (10 * US) == 3);
    assert_true(s.schedule.job[1].executor.result[3].end_ps / (10 * US) == 5);
    assert_int_equal(s.schedule.job[0].executor.result[0].messages, 7);
    assert_int_equal(s.schedule.job[1].executor.result[0].messages, 3);
    support_virtual_close(&s);
}

/* All payload of messages, of long and short ones, is checked. */
static void payload_arrives_unchanged(void **state)
{
    (void)state;
    struct support_virtual s;
    struct support_virtual_plan plan = plan_of("2x2 Hx2Mesh", written(fan_out(16, US), "checked.schedule"));
    plan.settings.verify = true;
    plan.settings.given |= HX_GIVEN_VERIFY;
    support_virtual_open(&s, &plan);
    assert_true(s.m.workload.verify);
    assert_true(support_virtual_run(&s) && support_virtual_whole(&s));
    assert_int_equal(s.m.area[0].bytes_corrupted, 0);
    support_virtual_close(&s);
}

static void complain(const struct model *m)
{
    (void)schedule_report_complain(m->workload.schedule, false);
}

/* Two ranks receive before they send; each receive has its send. */
static void a_stuck_schedule_names_its_operations(void **state)
{
    (void)state;
    struct support_virtual s;
    struct schedule_builder *b = schedule_builder_new(3);
    (void)schedule_compute(b, 2, US, 0);
    for (uint32_t rank = 0; rank < 2; rank++) {
        uint32_t receive = schedule_receive(b, rank, 1 - rank, 8, 5);
        schedule_set_name(b, rank, receive, "halo");
        schedule_after(b, rank, schedule_send(b, rank, 1 - rank, 8, 5), receive);
    }
    const struct support_virtual_plan plan = plan_of("1x1 Hx2Mesh", written(b, "stuck.schedule"));
    support_virtual_open(&s, &plan);
    assert_true(support_virtual_run(&s) && !schedule_plan_is_done(&s.schedule));
    support_virtual_listen(&s, complain);
    assert_non_null(strstr(s.said, "stuck.schedule: the schedule is stuck with 1 of 3 ranks done"));
    assert_non_null(strstr(s.said, "rank 0: receive halo from rank 1, tag 5, 8 B"));
    assert_non_null(strstr(s.said, "rank 1: receive halo from rank 0, tag 5, 8 B"));
    support_virtual_close(&s);
}

/* Both ranks send at the time at which they received: each message seems to be the cause of the other. */
static void a_critical_path_is_no_circle(void **state)
{
    enum { TIMES = 5 };
    (void)state;
    struct support_virtual s;
    struct critical_path path;
    struct schedule_builder *b = schedule_builder_new(2);
    for (uint32_t rank = 0; rank < 2; rank++) {
        (void)schedule_repeat(b, rank, TIMES);
        (void)schedule_send(b, rank, 1 - rank, 8, 0);
        (void)schedule_receive(b, rank, 1 - rank, 8, 0);
        schedule_repeat_end(b, rank);
    }
    const struct support_virtual_plan plan = plan_of("1x1 Hx2Mesh", written(b, "symmetric.schedule"));
    support_virtual_open(&s, &plan);
    assert_true(support_virtual_run(&s) && schedule_plan_is_done(&s.schedule));
    critical_path_find(&path, &s.schedule.job[0]);
    assert_true(path.whole);
    assert_int_equal(path.steps, 2 * TIMES);
    assert_int_equal(path.messages_ps, s.schedule.job[0].executor.result[0].end_ps);
    critical_path_free(&path);
    support_virtual_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_take_their_time),        cmocka_unit_test(collectives_take_exactly_their_time),
        cmocka_unit_test(messages_overlap_with_computing), cmocka_unit_test(jobs_have_schedules_of_their_own),
        cmocka_unit_test(payload_arrives_unchanged),       cmocka_unit_test(a_stuck_schedule_names_its_operations),
        cmocka_unit_test(a_critical_path_is_no_circle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
