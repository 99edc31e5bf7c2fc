/* test_memory_estimate.c - the memory estimate of a live fabric (fabric-emu/live/memory_estimate.h): peers are
 * within a job, by the job's traffic. */
#include "fabric-emu/live/memory_estimate.h"
#include "tests/support/support_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

/* Memory besides the arena, for this fabric with these jobs, if the run has this pattern. */
static uint64_t memory_estimate_for(const char *fabric, const char *jobs, unsigned workers, enum hx_pattern pattern)
{
    static const char name[] = "need.hxm.yaml";
    char text[256];
    (void)snprintf(text, sizeof text, "fabric: %s\n%s", fabric, jobs);
    file_write_text(name, text);
    struct fab_fabric f = {.workers = workers};
    hx_spec_load(file_path(name), NULL, &f.spec);
    f.g = hx_spec_fabric(&f.spec);
    layout_make(&f.layout, &f.spec, f.g, f.workers);
    jobs_make(&f.jobs, &f.spec, f.g, &f.layout);
    struct hx_settings settings = hx_default_settings;
    settings.pattern = pattern;
    struct traffic traffic;
    traffic_init(&traffic, &f.spec, f.g, &settings, NULL);
    uint64_t memory_estimate = memory_estimate_of(&f, &traffic, 0).workers;
    traffic_free(&traffic);
    jobs_free(&f.jobs);
    layout_free(&f.layout);
    hx_spec_free(&f.spec);
    return memory_estimate;
}

/* 4,096 hosts and one worker. */
static uint64_t memory_estimate_with(const char *jobs, enum hx_pattern pattern)
{
    return memory_estimate_for("fat-tree hosts=4096 radix=64", jobs, 1, pattern);
}

/* A torus of 32 x 32 routers: each worker has tables of 1,024 x 1,024 entries of 10 bytes, the current ones and,
 * during a search, the next. */
static void changing_routes_take_memory_in_each_worker(void **state)
{
    (void)state;
    uint64_t tables = UINT64_C(1024) * 1024 * 10;
    uint64_t more[2];
    for (unsigned workers = 1; workers <= 2; workers++)
        more[workers - 1] = memory_estimate_for("torus 32x32 fail=", "", workers, HX_PERMUTATION) -
                            memory_estimate_for("torus 32x32", "", workers, HX_PERMUTATION);
    uint64_t of_one = more[1] - more[0];
    assert_true(of_one >= 2 * tables && of_one < 2 * tables + tables / 50);
    assert_true(more[0] >= of_one);
}

static void hosts_of_a_small_job_have_few_peers(void **state)
{
    (void)state;
    uint64_t pairs = UINT64_C(4096) * 4095 * sizeof(struct hx_peer);
    uint64_t none = memory_estimate_with("", HX_PERMUTATION);
    assert_true(memory_estimate_with("", HX_ALL_TO_ALL) > none + pairs / 2);
    assert_true(memory_estimate_with("jobs: [{tag: 1, hosts: [[0, 15]]}]\n", HX_ALL_TO_ALL) < none + pairs / 1000);
}

/* Every pattern has at most its number of peers, which the virtual clock uses too. */
static void each_pattern_has_its_own_peers(void **state)
{
    (void)state;
    uint64_t peer = sizeof(struct hx_peer);
    uint64_t none = memory_estimate_for("64x64 Hx2Mesh", "", 2, HX_PERMUTATION);
    assert_true(memory_estimate_for("64x64 Hx2Mesh", "", 2, HX_ALL_TO_ALL) > none + peer * 16384 * 16000);
    static const enum hx_pattern few[] = {HX_NEIGHBOUR,   HX_INCAST,       HX_TORNADO,  HX_TRANSPOSE,
                                          HX_BIT_REVERSE, HX_NEIGHBOUR_3D, HX_BISECTION};
    for (unsigned i = 0; i < sizeof few / sizeof *few; i++)
        assert_true(memory_estimate_for("64x64 Hx2Mesh", "", 2, few[i]) < none + UINT64_C(12) * 16384 * 1024);
    assert_true(memory_estimate_for("torus 16x16", "", 2, HX_WORST_CASE) <
                memory_estimate_for("torus 16x16", "", 2, HX_UNIFORM));
}

static void a_job_has_peers_by_its_own_traffic(void **state)
{
    (void)state;
    uint64_t own = memory_estimate_with("jobs: [{tag: 1, hosts: [[0, 2047]], traffic: all-to-all}]\n", HX_PERMUTATION);
    uint64_t runs = memory_estimate_with("jobs: [{tag: 1, hosts: [[0, 2047]]}]\n", HX_ALL_TO_ALL);
    assert_int_equal(own, runs);
    assert_true(own > memory_estimate_with("jobs: [{tag: 1, hosts: [[0, 2047]]}]\n", HX_PERMUTATION));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_of_a_small_job_have_few_peers),
        cmocka_unit_test(changing_routes_take_memory_in_each_worker),
        cmocka_unit_test(each_pattern_has_its_own_peers),
        cmocka_unit_test(a_job_has_peers_by_its_own_traffic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
