/* test_need.c - how much memory a live fabric takes (fabric-emu/live/need.h): jobs keep to themselves, each with its traffic. */
#include "fabric-emu/live/need.h"
#include "tests/support/support_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

/* Beside the arena, for 4,096 hosts with these jobs, if the run has this pattern. */
static uint64_t need_with(const char *jobs, enum hx_pattern pattern)
{
    static const char name[] = "need.hxm.yaml";
    char text[256];
    (void)snprintf(text, sizeof text, "fabric: fat-tree hosts=4096 radix=64\n%s", jobs);
    file_write_text(name, text);
    struct fab_fabric f = {.workers = 1};
    hx_spec_load(file_path(name), NULL, &f.spec);
    f.g = hx_spec_fabric(&f.spec);
    layout_make(&f.layout, &f.spec, f.g, f.workers);
    jobs_make(&f.jobs, &f.spec, f.g, &f.layout);
    struct hx_settings settings = hx_default_settings;
    settings.pattern = pattern;
    uint64_t need = need_of(&f, &(struct fab_options){.settings = &settings}, 0).workers;
    jobs_free(&f.jobs);
    layout_free(&f.layout);
    hx_spec_free(&f.spec);
    return need;
}

static void who_is_in_a_small_job_has_few_peers(void **state)
{
    (void)state;
    uint64_t pairs = UINT64_C(4096) * 4095 * sizeof(struct hx_peer);
    uint64_t none = need_with("", HX_PERMUTATION);
    assert_true(need_with("", HX_ALL_TO_ALL) > none + pairs / 2);
    assert_true(need_with("jobs: [{tag: 1, hosts: [[0, 15]]}]\n", HX_ALL_TO_ALL) < none + pairs / 1000);
}

static void a_job_has_peers_by_its_own_traffic(void **state)
{
    (void)state;
    uint64_t own = need_with("jobs: [{tag: 1, hosts: [[0, 2047]], traffic: all-to-all}]\n", HX_PERMUTATION);
    uint64_t runs = need_with("jobs: [{tag: 1, hosts: [[0, 2047]]}]\n", HX_ALL_TO_ALL);
    assert_int_equal(own, runs);
    assert_true(own > need_with("jobs: [{tag: 1, hosts: [[0, 2047]]}]\n", HX_PERMUTATION));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_is_in_a_small_job_has_few_peers),
        cmocka_unit_test(a_job_has_peers_by_its_own_traffic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
