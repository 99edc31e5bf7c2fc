/* test_tags.c - jobs without a tag get the lowest free ones, each once, until none is left. */
#include "spec/tags.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void tags_of_boards_and_of_jobs_are_taken(void **state)
{
    (void)state;
    struct hx_problem problem;
    struct hx_spec spec;
    struct hx_tags tags;
    assert_true(hx_spec_parse("2x2 Hx1Mesh", &spec, &problem) && hx_spec_build(&spec, &problem));
    hx_tags_make(&tags, &spec);
    assert_int_equal(hx_tags_take(&tags), 1);
    spec.job = calloc(4, sizeof *spec.job);
    spec.job[0] = 1;
    spec.job[3] = 3;
    spec.named = calloc(2, sizeof *spec.named);
    spec.named_jobs = 2;
    spec.named[0].tag = 3;
    spec.named[1].tag = 4; /* it has no board yet */
    hx_tags_make(&tags, &spec);
    assert_int_equal(hx_tags_take(&tags), 2);
    assert_int_equal(hx_tags_take(&tags), 5);
    for (unsigned tag = 6; tag <= UINT16_MAX; tag++)
        assert_int_equal(hx_tags_take(&tags), tag);
    assert_int_equal(hx_tags_take(&tags), HX_NO_JOB);
    assert_int_equal(hx_tags_take(&tags), HX_NO_JOB);
    hx_spec_free(&spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tags_of_boards_and_of_jobs_are_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
