/* test_spec_write.c - a written fabric with jobs reads back the same, with any names and texts. */
#include "spec/jobs.h"
#include "spec/yaml/spec_write.h"
#include "tests/support/support_file.h"
#include "tests/support/support_random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FILE_NAME "written.hxm.yaml"
enum { JOBS = 64, FILES = 40 };

/* Characters with a meaning in YAML, more often than others. */
static void draw_name(char *name, unsigned most, uint64_t *random)
{
    static const char letters[] = "\"\\#:-'[{}],&*!|>%@` ~abcxyz019";
    unsigned length = 1 + seeded_below(random, most);
    for (unsigned i = 0; i < length; i++)
        name[i] = letters[seeded_below(random, sizeof letters - 1)];
    name[length] = '\0';
}

static void draw_job(struct hx_job *job, unsigned number, uint64_t *random)
{
    struct hx_settings *s = &job->settings;
    bool collective = seeded_below(random, 2);
    *job = (struct hx_job){.tag = (uint16_t)(1 + number * 7)};
    if (seeded_below(random, 2)) {
        draw_name(job->name, HX_JOB_NAME - 4, random);
        job->name[0] = (char)('A' + number % 26); /* all are distinct */
        job->name[1] = (char)('A' + number / 26);
    }
    if (seeded_below(random, 2)) {
        job->grid[0] = 1 + seeded_below(random, 9);
        job->grid[1] = 1 + seeded_below(random, 9);
        job->given = collective && seeded_below(random, 2) ? HX_GIVEN_GRID : 0; /* otherwise it follows from a size */
    }
    job->start_ns = seeded_below(random, 2) * (uint64_t)seeded_below(random, 2000000000);
    s->given = seeded_below(random, 2) * HX_GIVEN_PATTERN | seeded_below(random, 2) * HX_GIVEN_MESSAGE;
    s->given |= seeded_below(random, 2) * (collective ? HX_GIVEN_ALGORITHM : HX_GIVEN_COUNT);
    if (s->given & HX_GIVEN_PATTERN)
        s->pattern = collective ? HX_COLLECTIVES + seeded_below(random, HX_ALL_PATTERNS - HX_COLLECTIVES)
                                : seeded_below(random, HX_PATTERNS);
    if (s->given & HX_GIVEN_MESSAGE)
        s->message = 1 + seeded_below(random, 100000) * (1U << seeded_below(random, 12));
    if (s->given & HX_GIVEN_COUNT)
        s->count = 1 + seeded_below(random, 100000);
    if (s->given & HX_GIVEN_ALGORITHM)
        s->algorithm = seeded_below(random, HX_ALGORITHMS);
    s->given |= collective && seeded_below(random, 2) ? HX_GIVEN_LARGEST : 0;
    s->largest = s->given & HX_GIVEN_LARGEST && seeded_below(random, 2);
}

/* A grid that follows from a size is kept for a collective only. */
static void assert_same_grid(const struct hx_job *read, const struct hx_job *job)
{
    bool own = job->settings.given & HX_GIVEN_PATTERN && job->settings.pattern >= HX_COLLECTIVES;
    bool kept = own || job->given == HX_GIVEN_GRID;
    assert_int_equal(read->grid[0], kept ? job->grid[0] : 0);
    assert_int_equal(read->grid[1], kept ? job->grid[1] : 0);
}

static void assert_same(const struct hx_job *one, const struct hx_job *other)
{
    assert_string_equal(one->name, other->name);
    assert_int_equal(one->tag, other->tag);
    assert_int_equal(one->start_ns, other->start_ns);
    assert_int_equal(one->settings.given, other->settings.given);
    assert_int_equal(one->settings.pattern, other->settings.pattern);
    assert_int_equal(one->settings.message, other->settings.message);
    assert_int_equal(one->settings.count, other->settings.count);
    assert_int_equal(one->settings.algorithm, other->settings.algorithm);
    assert_int_equal(one->settings.largest, other->settings.largest);
}

static void a_written_spec_reads_back(void **state)
{
    (void)state;
    uint64_t random = seeded_by(4);
    for (unsigned file = 0; file < FILES; file++) {
        struct hx_spec written = {.fabric = "8x8 Hx2Mesh"}, read;
        struct hx_job job[JOBS];
        struct hx_problem problem;
        draw_name(written.name, sizeof written.name - 1, &random);
        FILE *out = file_create(FILE_NAME);
        hx_spec_write_names(&written, out);
        (void)fprintf(out, "jobs:\n");
        for (unsigned i = 0; i < JOBS; i++) {
            draw_job(&job[i], i, &random);
            hx_job_write(&job[i], out);
            (void)fprintf(out, "    boards: [[%u, %u]]\n", i % 8, i / 8);
        }
        (void)fclose(out);
        if (!hx_spec_try_load(file_path(FILE_NAME), NULL, &read, &problem))
            fail_msg("%s: %s", problem.where, problem.what);
        assert_string_equal(read.fabric, written.fabric);
        assert_string_equal(read.name, written.name);
        assert_int_equal(read.named_jobs, JOBS);
        for (unsigned i = 0; i < JOBS; i++) {
            assert_same(&read.named[i], &job[i]);
            assert_same_grid(&read.named[i], &job[i]);
        }
        hx_spec_free(&read);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_written_spec_reads_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
