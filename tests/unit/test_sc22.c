/* test_sc22.c - the training jobs of the HammingMesh paper: what examples/models compute and send, and figure 15's
 * runs. */
/* sanitizers: check-all */
#include "schedule/formats.h"
#include "schedule/readers.h"
#include "spec/spec.h"
#include "tools/reproduce/hammingmesh.h"
#include "topology/bounds.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* ---- what a rank does ---- */

struct sums {
    double computing_ms;
    uint64_t sent;                             /* bytes of sends */
    uint64_t vectors[HX_COLLECTIVE_KINDS];     /* bytes of collectives */
    unsigned collectives[HX_COLLECTIVE_KINDS]; /* of the rank */
    uint32_t group;                            /* ranks of the last collective's group */
};

static struct sums sums_of(const struct schedule *s, uint32_t rank)
{
    struct sums sums = {0};
    for (uint32_t i = 0; i < schedule_count(s, rank); i++) {
        const struct schedule_operation *o = schedule_at(s, rank, i);
        if (o->kind == SCHEDULE_COMPUTE)
            sums.computing_ms += (double)o->amount / 1e9;
        if (o->kind == SCHEDULE_SEND)
            sums.sent += o->amount;
        if (o->kind != SCHEDULE_COLLECTIVE)
            continue;
        sums.vectors[o->collective] += o->amount;
        sums.collectives[o->collective]++;
        sums.group = schedule_group_size(s, o->peer);
    }
    return sums;
}

/* `set`: NAME=VALUE, or NULL. */
static struct schedule *read_model(const char *file, const char *const set[REPRODUCE_SETS])
{
    char path[128];
    struct schedule_read_options options = {.ranks = 0};
    struct schedule_notes notes;
    struct hx_problem p;
    for (unsigned i = 0; set && i < REPRODUCE_SETS && set[i]; i++)
        options.set.item[options.set.count++] = set[i];
    (void)snprintf(path, sizeof path, "examples/models/%s", file);
    struct schedule *s = schedule_read(path, &options, &notes, &p);
    if (!s)
        fail_msg("%s: %s", p.where, p.what);
    return s;
}

static struct sums sums_with(const char *file, const char *set, uint32_t ranks, uint32_t rank)
{
    const char *const list[REPRODUCE_SETS] = {set};
    struct schedule *s = read_model(file, list);
    assert_int_equal(schedule_ranks(s), ranks);
    struct sums sums = sums_of(s, rank);
    schedule_close(s);
    return sums;
}

static void assert_ms(double ms, double expected)
{
    assert_true(fabs(ms - expected) < 1e-6);
}

/* A group of gradients is cut down to a multiple of 4 D elements. */
static void resnet(const char *set, uint32_t ranks, double computing_ms)
{
    static const uint64_t groups[] = {6511592, 6567936, 5905920, 6113280, 6176256,
                                      6112768, 6176256, 6112768, 5321216, 5194816};
    uint64_t bytes = 0;
    for (unsigned i = 0; i < 10; i++)
        bytes += 4 * (groups[i] - groups[i] % (4 * ranks));
    struct sums sums = sums_with("resnet-152.schedule.yaml", set, ranks, 1);
    assert_ms(sums.computing_ms, computing_ms);
    assert_int_equal(sums.collectives[HX_ALL_REDUCE], 10);
    assert_int_equal(sums.vectors[HX_ALL_REDUCE], bytes);
    assert_int_equal(sums.group, ranks);
}

static void resnet_sums_ten_groups_of_gradients(void **state)
{
    (void)state;
    resnet(NULL, 1024, 108);
    resnet("data=512", 512, 63 + 126);
    resnet("data=256", 256, 119 + 238);
}

static void cosmoflow_computes_as_run_and_as_listed(void **state)
{
    (void)state;
    struct sums run = sums_with("cosmoflow.schedule.yaml", NULL, 1024, 777);
    struct sums listed = sums_with("cosmoflow.schedule.yaml", "as_run=0", 1024, 777);
    assert_ms(run.computing_ms, 44.339);
    assert_ms(listed.computing_ms, 93.610);
    assert_int_equal(run.sent, 2 * 4 * (2097152 + 1048576 + 524288 + 262144 + 131072 + 262144 + 524288 + 1048576));
    assert_int_equal(run.vectors[HX_ALL_GATHER], 4 * (65536 + 256 + 128));
    assert_int_equal(run.vectors[HX_REDUCE_SCATTER], 4 * (65536 + 256 + 128));
    assert_int_equal(run.vectors[HX_ALL_REDUCE], 4 * (1050737 + 3539456 + 884992 + 221312 + 55360 + 3488));
    assert_int_equal(run.collectives[HX_ALL_REDUCE], 6);
    assert_int_equal(run.group, 256);
    assert_memory_equal(run.vectors, listed.vectors, sizeof run.vectors);
}

static void dlrm_exchanges_twice_and_sums_twice(void **state)
{
    (void)state;
    struct sums sums = sums_with("dlrm.schedule.yaml", NULL, 128, 5);
    assert_ms(sums.computing_ms, 0.095 + 0.341 + 0.209 + 0.455 + 0.910 + 0.891);
    assert_int_equal(sums.vectors[HX_COLLECTIVE_ALL_TO_ALL], 2 * 4 * 262144);
    assert_int_equal(sums.vectors[HX_ALL_REDUCE], 4 * (728064 + 49536));
    assert_int_equal(sums.group, 128);
}

static void gpt_3_computes_forward_and_backward_in_turn(void **state)
{
    (void)state;
    struct sums even = sums_with("gpt-3-sc22.schedule.yaml", NULL, 384, 96 + 14);
    struct sums odd = sums_with("gpt-3-sc22.schedule.yaml", NULL, 384, 15);
    assert_ms(even.computing_ms, 15.915);
    assert_ms(odd.computing_ms, 31.830);
    assert_int_equal(odd.vectors[HX_ALL_REDUCE], 2 * 4 * 25165824);
    assert_int_equal(odd.sent, 4 * 25165824);
    assert_int_equal(even.sent, 4 * 25165824);
    assert_int_equal(odd.group, 4);
    even = sums_with("gpt-3-moe-sc22.schedule.yaml", NULL, 1536, 96 + 14);
    odd = sums_with("gpt-3-moe-sc22.schedule.yaml", NULL, 1536, 15);
    assert_ms(even.computing_ms, 22.367 + 41.293 / 16);
    assert_ms(odd.computing_ms, 44.734 + 82.586 / 16);
    assert_int_equal(odd.vectors[HX_COLLECTIVE_ALL_TO_ALL], 2 * 4 * 25165824);
    assert_int_equal(odd.sent, 4 * 25165824);
    assert_int_equal(odd.group, 16);
}

/* A part of each vector, as the quick version sends. */
static void a_share_divides_what_is_sent(void **state)
{
    (void)state;
    struct sums whole = sums_with("gpt-3-sc22.schedule.yaml", NULL, 384, 3);
    struct sums quarter = sums_with("gpt-3-sc22.schedule.yaml", "share=4", 384, 3);
    assert_int_equal(4 * quarter.sent, whole.sent);
    assert_int_equal(4 * quarter.vectors[HX_ALL_REDUCE], whole.vectors[HX_ALL_REDUCE]);
}

/* ---- the runs ---- */

/* A stage of GPT-3 is in one column of the grid, and neighbours of the pipeline are side by side. */
static void assert_columns(const struct reproduce_run *run, const struct hx_fabric *f)
{
    bool pipeline = strncmp(run->traffic, "gpt-3", 5) == 0;
    if (pipeline && !run->planes)
        assert_int_equal((run->set[0] ? 16 : 96) % f->columns, 0);
}

static void a_job_has_four_links_a_host_and_no_host_is_idle_on_a_grid(void **state)
{
    (void)state;
    for (enum reproduce_effort effort = REPRODUCE_QUICK; effort <= REPRODUCE_DEFAULT; effort++) {
        struct reproduce_plan p = {.effort = effort};
        plan_fig15(&p);
        assert_int_equal(p.count % SC22_FABRICS, 0);
        for (unsigned i = 0; i < p.count; i++) {
            const struct reproduce_run *run = &p.run[i];
            struct hx_spec spec;
            hx_spec_load(run->fabric, NULL, &spec);
            const struct hx_fabric *f = hx_spec_fabric(&spec);
            struct schedule *s = read_model(run->traffic, run->set);
            double links = hx_fabric_injection(f, 400) * (run->planes ? run->planes : 1);
            assert_true(fabs(links - 4) < 1e-9);
            assert_true(schedule_ranks(s) <= f->hosts);
            if (!run->planes)
                assert_int_equal(schedule_ranks(s), f->hosts);
            assert_columns(run, f);
            schedule_close(s);
            hx_spec_free(&spec);
        }
    }
}

/* GPT-3 by the paper's times and the costs of table II, 25.3 and 5.4 M$: 1.42, and 1.41 as plotted. */
static void savings_are_ratios_of_cost_and_overhead(void **state)
{
    (void)state;
    assert_true(fabs(sc22_saving(SC22_HX2, 41.7, SC22_TREE, 34.8, 31.8) - 25.3 / 5.41 * 3.0 / 9.9) < 0.01);
    assert_true(fabs(sc22_saving(SC22_HX4, 110, SC22_TORUS, 110, 108) - 2.47 / 2.71) < 0.01);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resnet_sums_ten_groups_of_gradients),
        cmocka_unit_test(cosmoflow_computes_as_run_and_as_listed),
        cmocka_unit_test(dlrm_exchanges_twice_and_sums_twice),
        cmocka_unit_test(gpt_3_computes_forward_and_backward_in_turn),
        cmocka_unit_test(a_share_divides_what_is_sent),
        cmocka_unit_test(a_job_has_four_links_a_host_and_no_host_is_idle_on_a_grid),
        cmocka_unit_test(savings_are_ratios_of_cost_and_overhead),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
