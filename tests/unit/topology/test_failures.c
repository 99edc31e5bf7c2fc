/* test_failures.c - nodes, links and groups that fail from the start, on every fabric: the rest has minimal paths
 * without deadlock, cut-off hosts are reported, and impossible failures are refused. */
#include "tests/support/support_fabric.h"
#include "tests/support/support_random.h"
#include "topology/bill.h"
#include "topology/bounds.h"
#include "topology/failures.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Checks the fabric; returns the findings. */
static struct fabric_findings validate(const char *text)
{
    struct hx_fabric f;
    fabric_make(&f, text);
    struct fabric_findings found = fabric_validate(&f);
    hx_fabric_free(&f);
    return found;
}

static void paths_avoid_failures(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t hosts; /* remaining hosts */
    } each[] = {{"fat-tree hosts=64 radix=16 fail=leaf2/9", 64},
                {"fat-tree hosts=64 radix=16 fail=leaf0+leaf2/9+leaf3/10+a5,0", 55},
                {"fat-tree hosts=128 radix=8 fail=group1+top0", 124},
                {"slim-fly q=5 p=2 fail=router0,3+router1,2/5+router7,1/6", 98},
                {"torus 8x8 fail=router3,2/1+router5,5", 63},
                {"torus 8x8 board=2x2 fail=group1", 60},
                {"torus 9 fail=router3/2", 9},
                {"torus 4x4x4 fail=group7", 63},
                {"mesh 6x6 fail=a0,0+router2,2", 34},
                {"dragonfly a=4 p=2 h=2 fail=group3", 70},
                {"hyperx 6x6 p=2 fail=group4", 70},
                {"hyperx 3x3x3x3 p=1 fail=group4", 80},
                {"kautz degree=4 length=2 p=3 fail=router2/5", 60},
                {"mlfm h=3 fail=group4", 33},
                {"oft k=4 fail=group4", 100},
                {"bigraph m=4 n=8 fail=group4+s5/7", 27},
                {"Ring(4)_FC(4)_Switch(4) fail=group4+switch2", 63},
                {"graph examples/graph/cube.csv fail=switch3", 7}};
    for (unsigned i = 0; i < sizeof each / sizeof *each; i++) {
        struct fabric_findings found = validate(each[i].text);
        if (found.cut_off || found.pairs != (uint64_t)each[i].hosts * (each[i].hosts - 1))
            fail_msg("%s: %llu pairs, %llu cut off", each[i].text, (unsigned long long)found.pairs,
                     (unsigned long long)found.cut_off);
    }
}

/* Two lines of three without a path between them. */
static void cut_off_hosts_are_reported(void **state)
{
    (void)state;
    struct fabric_findings found = validate("mesh 7 fail=router3");
    assert_int_equal(found.pairs, 30);
    assert_int_equal(found.cut_off, 18);
    found = validate("fat-tree hosts=32 radix=16 fail=spine0+spine1");
    assert_int_equal(found.cut_off, 32 * 24);

    struct hx_fabric f;
    fabric_make(&f, "mesh 7 fail=router3");
    assert_int_equal(hx_fabric_distance(&f, 0, 2), 4);
    assert_int_equal(hx_fabric_distance(&f, 2, 4), HX_CUT_OFF);
    assert_int_equal(hx_fabric_distances(&f).diameter, 4);
    assert_true(f.failed[3] && !f.failed[2]);
    hx_fabric_free(&f);
}

/* Links fail one by one, up to a percentage: the rest is still valid, or is refused. */
static void random_links(void **state)
{
    (void)state;
    static const char *const each[] = {
        "fat-tree hosts=64 radix=8", "slim-fly q=5 p=1",           "torus 6x6", "hyperx 5x5 p=1",
        "dragonfly a=4 p=1 h=2",     "kautz degree=3 length=3 p=1"};
    uint64_t seed = seeded_by(13);
    unsigned validated = 0;
    for (unsigned i = 0; i < 60; i++) {
        char text[HX_SPEC_BYTES];
        int used = snprintf(text, sizeof text, "%s", each[i % 6]);
        struct hx_fabric f;
        fabric_make(&f, text);
        uint32_t groups = f.groups;
        hx_fabric_free(&f);
        used += snprintf(text + used, sizeof text - (size_t)used, " fail=group%u", seeded_below(&seed, groups));
        for (unsigned more = seeded_below(&seed, 4); more; more--)
            used += snprintf(text + used, sizeof text - (size_t)used, "+group%u", seeded_below(&seed, groups));
        struct hx_problem problem;
        if (!hx_fabric_make(&f, text, 1, &problem)) {
            assert_non_null(strstr(problem.what, "do not suffice for minimal paths around"));
            continue;
        }
        fabric_validate(&f);
        hx_fabric_free(&f);
        validated++;
    }
    assert_true(validated >= 50);
}

static uint64_t usd_of(const struct hx_fabric *f)
{
    return hx_fabric_bill(f, &hx_default_prices, HX_LINK_GBPS).usd;
}

/* Failed parts were bought, and bounds are those of the rest. */
static void figures_are_of_the_remaining_fabric(void **state)
{
    (void)state;
    struct hx_fabric whole;
    struct hx_fabric f;
    fabric_make(&whole, "fat-tree hosts=64 radix=16");
    fabric_make(&f, "fat-tree hosts=64 radix=16 fail=spine0");
    assert_int_equal(usd_of(&f), usd_of(&whole));
    assert_true(hx_fabric_alltoall_bound(&whole) > 0.99);
    /* A leaf's 8 hosts send to 56 others over its 6 remaining links. */
    double bound = hx_fabric_alltoall_bound(&f);
    assert_true(bound > 63 * 6 / 448.0 - 1e-9 && bound < 63 * 6 / 448.0 + 1e-9);
    hx_fabric_free(&whole);
    hx_fabric_free(&f);
}

static void impossible_failures_are_refused(void **state)
{
    (void)state;
    fabric_refused("fat-tree hosts=64 radix=16 fail=leaf8",
                   "fail: 'leaf8' is none of its nodes, links and groups (such as spine3, spine3/0, group11)");
    fabric_refused("fat-tree hosts=64 radix=16 fail=leaf1/16", "'leaf1/16' is none");
    fabric_refused("fat-tree hosts=64 radix=16 fail=leaf1/2x", "'leaf1/2x' is none");
    fabric_refused("fat-tree hosts=64 radix=16 fail=group12", "'group12' is none");
    fabric_refused("fat-tree hosts=64 radix=16 fail=a8,0", "'a8,0' is none");
    fabric_refused("fat-tree hosts=64 radix=16 fail=a0,0/Q", "'a0,0/Q' is none");
    fabric_refused("torus 2x2 fail=group0+group1+group2", "fail: 1 host is left, too few");
    fabric_refused("torus 2x2 fail=a0,0 fail=a1,0", "'fail' is given twice");
    fabric_refused("slim-fly q=3 routing=valiant fail=group0", "with fail= all paths are minimal");
    fabric_refused("torus 16x16x32 fail=a0,0", "switches are too many");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(paths_avoid_failures),
                                       cmocka_unit_test(cut_off_hosts_are_reported), cmocka_unit_test(random_links),
                                       cmocka_unit_test(figures_are_of_the_remaining_fabric),
                                       cmocka_unit_test(impossible_failures_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
