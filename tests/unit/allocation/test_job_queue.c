/* test_job_queue.c - jobs over time: by hand for each policy, and in general: no two jobs on one board, none on a
 * failed one, none delayed by a later one. */
#include "allocation/trace.h"
#include "tests/support/support_fabric.h"
#include "tests/support/support_file.h"
#include "tests/support/support_random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct hx_placement_rules greedy = {.aspect = 1};

static void assert_starts(const struct hx_schedule *s, const double *expected, size_t count)
{
    assert_int_equal(s->jobs, count);
    for (uint32_t i = 0; i < count; i++)
        if (s->job[i].start < expected[i] || s->job[i].start > expected[i])
            fail_msg("job %u starts at %g, not %g", i, s->job[i].start, expected[i]);
}

#define ASSERT_STARTS(s, ...)                                                                                          \
    assert_starts(s, (const double[]){__VA_ARGS__}, sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

static void each_policy_by_hand(void **state)
{
    (void)state;
    /* On 2x2 boards: half for 10 s, then all; one board that ends in time, one that would not, one behind both. */
    struct hx_schedule_job jobs[] = {{.arrival = 0, .duration = 10, .shape = {1, 2}},
                                     {.arrival = 1, .duration = 10, .shape = {2, 2}},
                                     {.arrival = 2, .duration = 5, .shape = {1, 1}},
                                     {.arrival = 3, .duration = 20, .shape = {1, 1}},
                                     {.arrival = 30, .duration = 1, .shape = {3, 1}}};
    struct hx_schedule_rules rules = {.columns = 2, .rows = 2, .placement = greedy};
    struct hx_schedule s;
    hx_schedule_run(&s, &rules, jobs, 5);
    ASSERT_STARTS(&s, 0, 10, 20, 20, -1);
    assert_int_equal(s.refused, 1);
    assert_true(s.end == 40);
    /* 2 boards for 10 s, 4 for 10, 1 for 5, 1 for 20: of 4 for 40 s. The second job waited 9 s although 2 of 4 were
     * free. */
    assert_true(s.utilization == (20.0 + 40 + 5 + 20) / 160);
    assert_true(s.fragmentation == 0);
    hx_schedule_free(&s);
    rules.policy = HX_BACKFILL;
    hx_schedule_run(&s, &rules, jobs, 5);
    ASSERT_STARTS(&s, 0, 10, 2, 20, -1);
    hx_schedule_free(&s);
}

static void fragmentation_is_free_boards_without_use(void **state)
{
    (void)state;
    /* Two jobs of a column's height end separately: the free boards of rows 0 and 1 are in different columns. */
    struct hx_schedule_job jobs[] = {{.arrival = 0, .duration = 10, .shape = {1, 1}},
                                     {.arrival = 0, .duration = 4, .shape = {1, 1}},
                                     {.arrival = 0, .duration = 4, .shape = {1, 1}},
                                     {.arrival = 0, .duration = 10, .shape = {1, 1}},
                                     {.arrival = 4, .duration = 1, .shape = {2, 1}}};
    const struct hx_schedule_rules rules = {.columns = 2, .rows = 2, .placement = greedy};
    struct hx_schedule s;
    hx_schedule_run(&s, &rules, jobs, 5);
    ASSERT_STARTS(&s, 0, 0, 0, 0, 10);
    assert_true(s.fragmentation == 2.0 * 6 / (4 * 11));
    hx_schedule_free(&s);
}

/* ---- hosts ---- */

/* Leaves of two hosts. From 4 s on, two free hosts are on different leaves. */
static void hosts_are_contiguous_or_not(void **state)
{
    static const double starts[HX_HOSTS_RULES] = {
        [HX_HOSTS_CONTIGUOUS] = 10, [HX_HOSTS_BY_GROUP] = 4, [HX_HOSTS_RANDOM] = 4};
    struct hx_fabric f;
    (void)state;
    fabric_make(&f, "fat-tree hosts=8 radix=4");
    for (unsigned place = 0; place < HX_HOSTS_RULES; place++) {
        struct hx_schedule_job jobs[] = {
            {.arrival = 0, .duration = 10, .shape = {1, 2}}, {.arrival = 0, .duration = 4, .shape = {2, 1}},
            {.arrival = 0, .duration = 10, .shape = {1, 2}}, {.arrival = 0, .duration = 4, .shape = {1, 2}},
            {.arrival = 1, .duration = 1, .shape = {1, 3}},  {.arrival = 1, .duration = 1, .shape = {3, 3}}};
        const struct hx_schedule_rules rules = {.columns = 8, .rows = 1, .fabric = &f, .place = place};
        struct hx_schedule s;
        hx_schedule_run(&s, &rules, jobs, 6);
        ASSERT_STARTS(&s, 0, 0, 0, 0, starts[place], -1);
        assert_int_equal(s.refused, 1);
        hx_schedule_free(&s);
    }
    hx_fabric_free(&f);
}

/* A failed leaf takes its two hosts with it: six of eight remain, all in use for half of the time. */
static void failed_hosts_get_no_job(void **state)
{
    struct hx_fabric f;
    struct hx_schedule s;
    (void)state;
    fabric_make(&f, "fat-tree hosts=8 radix=4 fail=leaf1");
    struct hx_schedule_job jobs[] = {{.arrival = 0, .duration = 10, .shape = {1, 6}},
                                     {.arrival = 0, .duration = 10, .shape = {1, 7}},
                                     {.arrival = 20, .duration = 0, .shape = {1, 1}},
                                     {.arrival = 20, .duration = 0, .shape = {1, 5}}};
    const struct hx_schedule_rules rules = {
        .columns = 8, .rows = 1, .taken = f.failed, .fabric = &f, .place = HX_HOSTS_BY_GROUP};
    hx_schedule_run(&s, &rules, jobs, 4);
    ASSERT_STARTS(&s, 0, -1, 20, 20);
    for (unsigned i = 0; i < 6; i++)
        assert_true(s.job[0].placement.column[i] != 2 && s.job[0].placement.column[i] != 3);
    assert_true(s.utilization == 0.5);
    hx_schedule_free(&s);
    hx_fabric_free(&f);
}

/* Two of four boards remain. */
static void taken_boards_get_no_job(void **state)
{
    (void)state;
    static const bool taken[] = {true, false, false, true};
    struct hx_schedule s;
    struct hx_schedule_job jobs[] = {{.arrival = 0, .duration = 10, .shape = {1, 1}},
                                     {.arrival = 0, .duration = 10, .shape = {1, 1}},
                                     {.arrival = 0, .duration = 10, .shape = {1, 2}}};
    struct hx_schedule_rules rules = {.columns = 2, .rows = 2, .taken = taken, .placement = greedy};
    hx_schedule_run(&s, &rules, jobs, 3);
    ASSERT_STARTS(&s, 0, 0, -1);
    assert_int_equal(s.job[0].placement.row[0] * 2 + s.job[0].placement.column[0], 1);
    assert_int_equal(s.job[1].placement.row[0] * 2 + s.job[1].placement.column[0], 2);
    assert_true(s.utilization == 1);
    hx_schedule_free(&s);
}

/* Before all others and after them. */
static void a_refused_job_takes_no_time(void **state)
{
    (void)state;
    struct hx_schedule s;
    struct hx_schedule_job jobs[] = {{.arrival = 0, .duration = 1, .shape = {3, 1}},
                                     {.arrival = 10, .duration = 10, .shape = {2, 2}},
                                     {.arrival = 100, .duration = 1, .shape = {3, 1}}};
    struct hx_schedule_rules rules = {.columns = 2, .rows = 2, .placement = greedy};
    hx_schedule_run(&s, &rules, jobs, 3);
    ASSERT_STARTS(&s, -1, 10, -1);
    assert_int_equal(s.refused, 2);
    assert_true(s.end == 20);
    assert_true(s.utilization == 1);
    hx_schedule_free(&s);
}

/* ---- any jobs ---- */

static bool has_board(const struct hx_placement *p, unsigned column, unsigned row)
{
    bool in_columns = false, in_rows = false;
    for (unsigned i = 0; i < p->shape.columns; i++)
        in_columns |= p->column[i] == column;
    for (unsigned i = 0; i < p->shape.rows; i++)
        in_rows |= p->row[i] == row;
    return in_columns && in_rows;
}

static bool meet(const struct hx_schedule_job *a, const struct hx_schedule_job *b)
{
    if (a->start < 0 || b->start < 0 || a->end <= b->start || b->end <= a->start)
        return false;
    for (unsigned n = 0; n < a->placement.shape.rows * a->placement.shape.columns; n++)
        if (has_board(&b->placement, a->placement.column[n % a->placement.shape.columns],
                      a->placement.row[n / a->placement.shape.columns]))
            return true;
    return false;
}

static void assert_sound(const struct hx_schedule *s, const struct hx_schedule_rules *rules)
{
    double used = 0, last = 0, first = -1;
    for (uint32_t i = 0; i < s->jobs; i++) {
        const struct hx_schedule_job *job = &s->job[i];
        assert_true(job->refused || job->start >= job->arrival);
        assert_true(job->refused || job->end == job->start + job->duration);
        used += job->refused ? 0 : job->duration * job->shape.rows * job->shape.columns;
        assert_true(job->refused || rules->policy != HX_FIRST_COME || job->restarts ||
                    rules->mean_time_between_failures > 0 || job->start >= last);
        last = job->refused ? last : job->start;
        first = job->refused || first >= 0 ? first : job->arrival;
        for (uint32_t other = 0; other < i; other++)
            assert_false(meet(job, &s->job[other]));
    }
    double share = used / (rules->columns * rules->rows * (s->end - first));
    if (rules->mean_time_between_failures <= 0 && (s->utilization < share - 1e-9 || s->utilization > share + 1e-9))
        fail_msg("utilization %f, not %f", s->utilization, share);
}

enum { DRAWN = 120 };

static void draw_jobs(struct hx_schedule_job jobs[DRAWN], uint64_t *random)
{
    double at = 0;
    for (unsigned i = 0; i < DRAWN; i++) {
        at += seeded_below(random, 30);
        jobs[i] = (struct hx_schedule_job){.arrival = at, .duration = 1 + seeded_below(random, 90)};
        jobs[i].shape = (struct hx_shape){1 + seeded_below(random, 5), 1 + seeded_below(random, 5)};
    }
}

static void validate_drawn(const struct hx_schedule_rules *rules, uint64_t *random)
{
    struct hx_schedule_job jobs[DRAWN];
    struct hx_schedule s;
    draw_jobs(jobs, random);
    hx_schedule_run(&s, rules, jobs, DRAWN);
    assert_sound(&s, rules);
    assert_int_equal(s.given_up, 0);
    assert_true(rules->mean_time_between_failures <= 0 || s.failures > 0);
    hx_schedule_free(&s);
}

static void no_jobs_overlap_and_all_run(void **state)
{
    (void)state;
    uint64_t random = seeded_by(11);
    for (unsigned n = 0; n < 60; n++) {
        const struct hx_schedule_rules rules = {
            .columns = 2 + seeded_below(&random, 7),
            .rows = 2 + seeded_below(&random, 7),
            .policy = seeded_below(&random, HX_QUEUE_POLICIES),
            .placement = {.aspect = 1 + seeded_below(&random, 8), .transpose = seeded_below(&random, 2), .search = 500},
            .mean_time_between_failures = n % 2 ? 0 : 3000,
            .mean_time_to_repair = 40,
            .seed = n};
        validate_drawn(&rules, &random);
    }
}

static void no_jobs_overlap_on_hosts(void **state)
{
    struct hx_fabric f;
    (void)state;
    uint64_t random = seeded_by(12);
    fabric_make(&f, "dragonfly a=4 p=2 h=2 groups=5");
    for (unsigned n = 0; n < 60; n++) {
        const struct hx_schedule_rules rules = {.columns = f.hosts,
                                                .rows = 1,
                                                .fabric = &f,
                                                .place = n % HX_HOSTS_RULES,
                                                .policy = seeded_below(&random, HX_QUEUE_POLICIES),
                                                .mean_time_between_failures = n % 2 ? 0 : 3000,
                                                .mean_time_to_repair = 40,
                                                .seed = n};
        validate_drawn(&rules, &random);
    }
    hx_fabric_free(&f);
}

static void the_first_job_is_not_delayed(void **state)
{
    (void)state;
    enum { JOBS = 40 };
    uint64_t random = seeded_by(4);
    /* Random jobs start at once, then one needs all boards: it starts as early as without later jobs. */
    for (unsigned n = 0; n < 200; n++) {
        struct hx_schedule_job all[JOBS], few[JOBS];
        struct hx_schedule whole, part;
        const struct hx_schedule_rules rules = {.columns = 12, .rows = 1, .policy = HX_BACKFILL, .placement = greedy};
        unsigned head = 5 + seeded_below(&random, 5);
        for (unsigned i = 0; i < JOBS; i++)
            all[i] = (struct hx_schedule_job){.arrival = i < head ? 0 : 1,
                                              .duration = 1 + seeded_below(&random, 50),
                                              .shape = {1, 1 + seeded_below(&random, i < head ? 1 : 12)}};
        all[head].shape.columns = 12;
        memcpy(few, all, sizeof all);
        hx_schedule_run(&whole, &rules, all, JOBS);
        hx_schedule_run(&part, &rules, few, head + 1);
        assert_true(all[head].start == few[head].start);
        hx_schedule_free(&whole);
        hx_schedule_free(&part);
    }
}

/* ---- traces ---- */

static bool read_text(struct hx_job_trace *t, const char *text, struct hx_problem *problem)
{
    return hx_job_trace_read(t, file_write_text("jobs.csv", text), problem);
}

static void traces(void **state)
{
    (void)state;
    struct hx_job_trace t;
    struct hx_problem problem;
    assert_true(read_text(&t, "# three\njob,duration,arrival\n3x2,1h,0\n\n12,90s,10\n1,500ms,10", &problem));
    assert_int_equal(t.jobs, 3);
    assert_true(t.job[0].shape.columns == 3 && t.job[0].shape.rows == 2 && t.job[0].duration == 3600);
    assert_true(t.job[1].shape.columns == 3 && t.job[1].shape.rows == 4 && t.job[1].arrival == 10);
    assert_true(t.job[2].duration == 0.5);
    hx_job_trace_free(&t);
}

static bool read_any(const char *text, struct hx_problem *problem)
{
    struct hx_job_trace t;
    return read_text(&t, text, problem);
}

static void missing_and_other_traces_are_refused(void **state)
{
    (void)state;
    static const struct file_refusal bad[] = {
        {"0,1,2\n", ":1:1", "the first line has to name the columns arrival,job,duration"},
        {"arrival,job,job\n", ":1:1", "the first line has to name the columns arrival,job,duration"},
        {"arrival,job,duration,more\n", ":1:1", "the first line has to name the columns arrival,job,duration"},
        {"arrival,job,duration\n", ":1:1", "has no job"},
        {"arrival,job,duration\n1,2\n", ":2:1", "a job has three values: arrival, job, duration"},
        {"arrival,job,duration\n1,2,3,4\n", ":2:1", "a job has three values: arrival, job, duration"},
        {"arrival,job,duration\n1,0,3\n", ":2:3",
         "'0' is no job (write a number of boards, as 6, or COLUMNSxROWS of them, as 3x2)"},
        {"arrival,job,duration\n1,5000x1,3\n", ":2:3",
         "'5000x1' is no job (write a number of boards, as 6, or COLUMNSxROWS of them, as 3x2)"},
        {"arrival,job,duration\n5,1,3\n4,1,3\n", ":3:1", "arrives before the job of the line before: arrivals ascend"},
    };
    file_refused("jobs.csv", bad, sizeof bad / sizeof *bad, read_any);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_policy_by_hand),
        cmocka_unit_test(fragmentation_is_free_boards_without_use),
        cmocka_unit_test(no_jobs_overlap_and_all_run),
        cmocka_unit_test(no_jobs_overlap_on_hosts),
        cmocka_unit_test(hosts_are_contiguous_or_not),
        cmocka_unit_test(failed_hosts_get_no_job),
        cmocka_unit_test(taken_boards_get_no_job),
        cmocka_unit_test(a_refused_job_takes_no_time),
        cmocka_unit_test(the_first_job_is_not_delayed),
        cmocka_unit_test(traces),
        cmocka_unit_test(missing_and_other_traces_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
