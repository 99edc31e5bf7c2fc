/* test_mix.c - job sizes from a file, and mixes of jobs: distributed as in the file, reproducible by seed, with the
 * stated utilization. */
#include "allocation/mix.h"
#include "tests/support/support_file.h"
#include "tests/support/support_random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static bool read_text(struct hx_job_sizes *s, const char *text, struct hx_problem *problem)
{
    return hx_job_sizes_read(s, file_write_text("sizes.csv", text), problem);
}

static void sizes_follow_the_file(void **state)
{
    (void)state;
    enum { DRAWN = 200000 };
    struct hx_job_sizes s;
    struct hx_problem problem;
    uint64_t random = seeded_by(3);
    unsigned count[10] = {0};
    assert_true(read_text(&s, "# sizes\njob_size,perc_jobs_lte,more\n1,50,x\n\n4,75,y\n9,100,z\n", &problem));
    for (unsigned i = 0; i < DRAWN; i++)
        count[hx_job_size(&s, seeded_next(&random))]++;
    assert_in_range(count[1], DRAWN * 0.49, DRAWN * 0.51);
    assert_in_range(count[4], DRAWN * 0.24, DRAWN * 0.26);
    assert_int_equal(count[1] + count[4] + count[9], DRAWN);
    assert_int_equal(hx_job_size(&s, 0), 1);
    assert_int_equal(hx_job_size(&s, UINT64_MAX), 9);
    hx_job_sizes_free(&s);
}

/* The trace's own file counts boards as well as jobs. */
static void the_papers_sizes(void **state)
{
    (void)state;
    static const struct {
        unsigned boards;
        double percent;
    } of_boards[] = {
        {1, 14.075061601023414}, {4, 17.080093233665597}, {19, 34.25678516779095}, {1050, 99.9824737767536}};
    struct hx_job_sizes s;
    struct hx_problem problem;
    assert_true(hx_job_sizes_load(&s, NULL, &problem));
    double all = 0, asked = 0;
    for (unsigned i = 0; i < s.count; i++)
        all += s.boards[i] * (s.share[i] - (i ? s.share[i - 1] : 0));
    assert_true(all > 5.43 - 0.01 && all < 5.43 + 0.01);
    for (unsigned i = 0, n = 0; i < s.count && n < sizeof of_boards / sizeof *of_boards; i++) {
        asked += s.boards[i] * (s.share[i] - (i ? s.share[i - 1] : 0));
        if (s.boards[i] != of_boards[n].boards)
            continue;
        double off = 100 * asked / all - of_boards[n++].percent;
        assert_true(off > -0.01 && off < 0.01);
    }
    assert_true(s.share[s.count - 1] == 1);
    hx_job_sizes_free(&s);
}

static bool read_any(const char *text, struct hx_problem *problem)
{
    struct hx_job_sizes s;
    return read_text(&s, text, problem);
}

static void missing_and_other_files_are_refused(void **state)
{
    (void)state;
    static const struct file_refusal bad[] = {
        {"1,50\n", ":1:1", "the first line has to be job_size,perc_jobs_lte"},
        {"", ":0:1", "ends before all jobs are told of: the last line has 100 per cent"},
        {"job_size,perc_jobs_lte\n0,100\n", ":2:1", "begins with no number of boards (write for example 4,82.4)"},
        {"job_size,perc_jobs_lte\n-1,100\n", ":2:1", "begins with no number of boards (write for example 4,82.4)"},
        {"job_size,perc_jobs_lte\n2,101\n", ":2:3", "has no per cent of jobs (0 to 100) behind the number of boards"},
        {"job_size,perc_jobs_lte\n2,nan\n", ":2:3", "has no per cent of jobs (0 to 100) behind the number of boards"},
        {"job_size,perc_jobs_lte\n2,5 0\n", ":2:3", "has no per cent of jobs (0 to 100) behind the number of boards"},
        {"job_size,perc_jobs_lte\n2\n", ":2:1", "has no per cent of jobs (0 to 100) behind the number of boards"},
        {"job_size,perc_jobs_lte\n2,50\n2,100\n", ":3:1", "is not above the line before: sizes and shares ascend"},
        {"job_size,perc_jobs_lte\n2,50\n3,40\n", ":3:1", "is not above the line before: sizes and shares ascend"},
        {"job_size,perc_jobs_lte\n2,50\n", ":2:1", "ends before all jobs are told of: the last line has 100 per cent"},
    };
    file_refused("sizes.csv", bad, sizeof bad / sizeof *bad, read_any);
}

static void mixes(void **state)
{
    (void)state;
    struct hx_job_sizes s;
    struct hx_problem problem;
    struct hx_mix one, again, other;
    struct hx_mix_rules rules = {.columns = 16, .rows = 16, .placement = {.aspect = 1}};
    assert_true(read_text(&s, "job_size,perc_jobs_lte\n1,60\n6,80\n17,90\n64,100\n", &problem));
    hx_mix_run(&one, &rules, &s, 1);
    hx_mix_run(&again, &rules, &s, 1);
    hx_mix_run(&other, &rules, &s, 2);
    assert_memory_equal(&one, &again, sizeof one);
    assert_true(one.jobs != other.jobs || one.placed != other.placed);
    assert_true(one.upper[0] == 0 && one.upper[1] == 0);
    hx_job_sizes_free(&s);

    /* Jobs of one board: all working boards are used, under any rule. */
    assert_true(read_text(&s, "job_size,perc_jobs_lte\n1,100\n", &problem));
    rules.failed = 40;
    hx_mix_run(&one, &rules, &s, 7);
    assert_int_equal(one.jobs, 16 * 16 - 40);
    assert_int_equal(one.placed, one.jobs);
    assert_true(one.utilization == 1);
    static const bool taken[16 * 16] = {[0] = true, [17] = true, [255] = true};
    rules.taken = taken;
    hx_mix_run(&one, &rules, &s, 7);
    assert_int_equal(one.jobs, 16 * 16 - 3 - 40);
    assert_int_equal(one.placed, one.jobs);
    rules.taken = NULL;
    hx_job_sizes_free(&s);

    /* Four squares of a quarter each fill the fabric, the last uncut. Each has 2 of its 4 leaves of columns and of
     * rows: of its 56 pairs of columns 32 are on two leaves. */
    assert_true(read_text(&s, "job_size,perc_jobs_lte\n64,100\n", &problem));
    rules.failed = 0;
    rules.placement.leaf[0] = rules.placement.leaf[1] = 4;
    hx_mix_run(&one, &rules, &s, 1);
    assert_int_equal(one.jobs, 4);
    assert_true(one.utilization == 1);
    assert_true(one.upper[0] > 32.0 / 56 - 1e-9 && one.upper[0] < 32.0 / 56 + 1e-9);
    assert_true(one.upper[1] > 4.0 / 16 - 1e-9 && one.upper[1] < 4.0 / 16 + 1e-9);
    hx_job_sizes_free(&s);
}

/* Sizes longer than half the fabric are not drawn; a file with only such sizes ends. */
static void too_long_sizes(void **state)
{
    (void)state;
    struct hx_job_sizes s;
    struct hx_problem problem;
    struct hx_mix mix;
    struct hx_mix_rules rules = {.columns = 8, .rows = 8, .placement = {.aspect = 1}};
    assert_true(read_text(&s, "job_size,perc_jobs_lte\n4,0\n30,50\n9000,100\n", &problem));
    assert_false(hx_mix_has_jobs(&rules, &s)); /* no job has 4 boards, 30 are 6x5 */
    hx_mix_run(&mix, &rules, &s, 1);
    assert_int_equal(mix.jobs, 0);
    hx_job_sizes_free(&s);

    /* 61 boards: three times 16, and 13 remain, with 13x1 as the only shape. */
    assert_true(read_text(&s, "job_size,perc_jobs_lte\n16,100\n", &problem));
    rules.failed = 3;
    assert_true(hx_mix_has_jobs(&rules, &s));
    hx_mix_run(&mix, &rules, &s, 1);
    assert_int_equal(mix.jobs, 3);
    hx_job_sizes_free(&s);
}

/* With no job longer than half the fabric, placing the largest first uses all boards, also with the paper's sizes. */
static void the_largest_first_fill_all(void **state)
{
    (void)state;
    struct hx_job_sizes s;
    struct hx_problem problem;
    struct hx_mix_rules rules = {
        .columns = 16, .rows = 16, .sorted = true, .placement = {.transpose = true, .aspect = HX_DEFAULT_ASPECT}};
    assert_true(hx_job_sizes_load(&s, NULL, &problem));
    for (unsigned seed = 1; seed <= 50; seed++) {
        struct hx_mix mix;
        hx_mix_run(&mix, &rules, &s, seed);
        assert_int_equal(mix.placed, mix.jobs);
        assert_true(mix.utilization == 1);
    }
    hx_job_sizes_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_follow_the_file),
        cmocka_unit_test(the_papers_sizes),
        cmocka_unit_test(missing_and_other_files_are_refused),
        cmocka_unit_test(mixes),
        cmocka_unit_test(too_long_sizes),
        cmocka_unit_test(the_largest_first_fill_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
