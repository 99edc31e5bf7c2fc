/* test_fat_tree.c - fat trees: the counts and costs of table II, their shape by formulas, every path of many small
 * ones. */
/* sanitizers: check-all */
#include "tests/support/support_fabric.h"
#include "topology/bounds.h"
#include "topology/topology.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* SC22 appendix C and table II. The table buys a cable for every port of a leaf, although 25 of 42 leaves have room
 * for 26 more hosts. With them the sum is the table's, for 16 planes. */
static void table_two(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        unsigned switches, aoc, leaf_ports;
        unsigned table, unit; /* dollars */
    } cases[] = {
        {"fat-tree hosts=1024", 32 + 16, 1024, 1024, 253, 100000},
        {"fat-tree hosts=1024 taper=2", 25 + 9, 25 * 22, 25 * 42, 176, 100000},
        {"fat-tree hosts=1024 down=42 up=22", 25 + 9, 25 * 22, 25 * 42, 176, 100000},
        {"fat-tree hosts=1024 taper=4", 21 + 5, 21 * 13, 21 * 51, 132, 100000},
        {"fat-tree hosts=16384", 512 + 512 + 256, 2 * 16384, 16384, 680, 1000000},
        /* Its 794 switches and 17,160 cables are those of 390 leaves with 16,380 hosts, for 418 million. */
        {"fat-tree hosts=16380 taper=2", 794, 17160, 390 * 42, 418, 1000000},
        {"fat-tree hosts=16384 taper=2", 391 + 269 + 135, 17204, 391 * 42, 419, 1000000},
        /* The text says 8,304 switches, its sum 520: one more than pods of 32 leaves need. 271 million either way. */
        {"fat-tree hosts=16384 taper=4", 322 + 131 + 66, 8372, 322 * 51, 271, 1000000},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hx_fabric f;
        fabric_make(&f, cases[i].text);
        assert_int_equal(f.switches, cases[i].switches);
        assert_int_equal(f.nodes - f.hosts, f.switches);
        assert_int_equal(f.bought_planes, 16);
        assert_int_equal(fabric_cables(&f, HX_AOC), cases[i].aoc);
        assert_int_equal(fabric_cables(&f, HX_DAC), f.hosts);
        uint64_t cost = fabric_cost(&f) + UINT64_C(16) * 272 * (cases[i].leaf_ports - f.hosts);
        assert_int_equal((cost + cases[i].unit / 2) / cases[i].unit, cases[i].table);
        hx_fabric_free(&f);
    }
}

/* `even`: all leaves have equally many cables to each spine, so no minimal path is excluded. */
static struct fabric_findings validate(const char *text, uint32_t step, bool even)
{
    struct hx_fabric f;
    fabric_make(&f, text);
    struct fabric_findings found = fabric_validate_some(&f, step);
    assert_int_equal(found.missing == 0, even);
    assert_int_equal(found.vcs, 1);
    hx_fabric_free(&f);
    return found;
}

static void clusters_of_the_paper_are_free_of_deadlock(void **state)
{
    (void)state;
    assert_int_equal(validate("fat-tree hosts=1024", 16, true).diameter, 4);
    assert_int_equal(validate("fat-tree hosts=1024 taper=2", 16, false).diameter, 4);
    assert_int_equal(validate("fat-tree hosts=1024 taper=4", 16, false).diameter, 4);
    assert_int_equal(validate("fat-tree hosts=16384", 2048, true).diameter, 6);
    assert_int_equal(validate("fat-tree hosts=16384 taper=2", 2048, true).diameter, 6);
}

/* As many minimal paths between leaves as uplinks allow; no switch exceeds its ports. */
static void validate_shape(unsigned radix, unsigned down, unsigned up, unsigned hosts, unsigned levels)
{
    char text[96];
    struct hx_fabric f;
    unsigned leaves = (hosts + down - 1) / down;
    snprintf(text, sizeof text, "fat-tree radix=%u down=%u up=%u hosts=%u levels=%u", radix, down, up, hosts, levels);
    unsigned most = levels == 2 ? radix : radix * radix / 2;
    if (leaves > most) {
        fabric_refused(text, "at most");
        return;
    }
    fabric_make(&f, text);
    struct fabric_findings found = fabric_validate(&f);
    unsigned spines = (leaves * up + radix - 1) / radix;
    assert_true(found.missing == 0 || (levels == 2 && up % spines != 0));
    assert_int_equal(found.pairs, hosts * (hosts - 1));
    bool one_pod = levels == 2 || leaves <= radix / 2;
    assert_int_equal(found.diameter, leaves == 1 ? 2 : one_pod ? 4 : 6);
    assert_int_equal(fabric_cables(&f, HX_AOC),
                     leaves == 1 && levels == 2 ? 0 : leaves * up * (leaves == 1 ? 1 : levels - 1));
    for (uint32_t node = f.hosts; node < f.nodes; node++)
        assert_true(hx_fabric_ports(&f, node) <= radix);
    if (levels == 2)
        for (uint32_t leaf = 1; leaf < leaves; leaf++)
            assert_true(fabric_shortest_paths(&f, f.hosts, f.hosts + leaf) >= up);
    hx_fabric_free(&f);
}

static void many_small_trees(void **state)
{
    (void)state;
    for (unsigned radix = 2; radix <= 6; radix += 2)
        for (unsigned down = 1; down < radix; down++)
            for (unsigned up = 1; up <= radix - down; up++)
                for (unsigned hosts = 2; hosts <= 40; hosts += hosts < 12 ? 1 : 7)
                    for (unsigned levels = 2; levels <= 3; levels++)
                        validate_shape(radix, down, up, hosts, levels);
}

/* Share of the injection bandwidth that the fullest link allows if traffic is spread evenly over the tables' ports. */
static double offered_share(const struct hx_fabric *f)
{
    struct hx_topology without = *f->topology;
    struct hx_fabric same = *f;
    without.alltoall_bound = NULL;
    same.topology = &without;
    return hx_fabric_alltoall_bound(&same);
}

/* A leaf with two cables to some spines and three to others excludes paths that would overload the links down. The
 * tapered trees of table II carry 95 % of their uplinks' bandwidth; with all minimal paths alike they would carry 80
 * and 76 %. */
static void uneven_uplinks(void **state)
{
    (void)state;
    static const char *const trees[] = {"fat-tree hosts=1024 down=42 up=22", "fat-tree hosts=1024 down=51 up=13"};
    for (unsigned i = 0; i < 2; i++) {
        struct hx_fabric f;
        fabric_make(&f, trees[i]);
        double bound = hx_fabric_alltoall_bound(&f);
        assert_true(fabric_even_share(&f) < 0.81 * bound);
        assert_true(offered_share(&f) > 0.949 * bound);
        hx_fabric_free(&f);
    }
    /* Shares of few cables are coarse: no tree of up to 16 ports loses more than 3 % by it. */
    for (unsigned radix = 4; radix <= 16; radix += 4)
        for (unsigned up = 1; up < radix; up++)
            for (unsigned leaves = 2; leaves <= radix; leaves++) {
                struct hx_fabric f;
                char text[96];
                snprintf(text, sizeof text, "fat-tree radix=%u down=%u up=%u hosts=%u levels=2", radix, radix - up, up,
                         leaves * (radix - up));
                fabric_make(&f, text);
                if (offered_share(&f) < 0.97 * fabric_even_share(&f))
                    fail_msg("%s: %g, all paths alike %g", text, offered_share(&f), fabric_even_share(&f));
                hx_fabric_free(&f);
            }
}

/* With full leaves and even links, the bound is that of the fullest link. */
static void bound_is(const char *text, double bound, uint64_t bisection)
{
    struct hx_fabric f;
    fabric_make(&f, text);
    double got = hx_fabric_alltoall_bound(&f);
    assert_true(got > bound - 1e-9 && got < bound + 1e-9);
    assert_int_equal(f.topology->bisection(&f), bisection);
    double share = f.hosts <= 1024 ? fabric_even_share(&f) : bound;
    assert_true(share < bound + 1e-9 && (bisection == 0 || share > bound - 1e-9));
    hx_fabric_free(&f);
}

/* Of 1,023 others 992 are behind the uplinks of a leaf of 32. The paper simulated 32 hosts with 32, 16 and 8
 * uplinks. */
static void bounds(void **state)
{
    (void)state;
    bound_is("fat-tree hosts=1024", 1, 512);
    bound_is("fat-tree hosts=1024 down=32 up=16", 16.0 / 32 * 1023 / 992, 256);
    bound_is("fat-tree hosts=1024 down=32 up=8", 8.0 / 32 * 1023 / 992, 128);
    bound_is("fat-tree hosts=1024 taper=2", 22.0 / 42 * 1023 / 982, 0);
    bound_is("fat-tree hosts=16384", 1, 8192);
    bound_is("fat-tree hosts=30", 1, 0);
}

/* Two leaves of 2 hosts, an uplink each: halves and their links by hand. */
static void halves_by_hand(void **state)
{
    (void)state;
    bound_is("fat-tree radix=4 hosts=4 down=2 up=1", 1.0 / 2 * 3 / 2, 1);
    bound_is("fat-tree radix=4 hosts=4 down=1 up=2", 1, 4);
}

static void levels_are_as_few_as_possible(void **state)
{
    (void)state;
    struct hx_fabric f;
    fabric_make(&f, "fat-tree hosts=2048");
    assert_int_equal(f.nodes - f.hosts, 64 + 32);
    hx_fabric_free(&f);
    fabric_make(&f, "fat-tree hosts=2049"); /* 65 leaves: two full pods, and one of a single leaf */
    assert_int_equal(f.nodes - f.hosts, 65 + 65 + 33);
    assert_int_equal(fabric_links_between(&f, f.hosts + 64, f.hosts + 65 + 64), 32);
    hx_fabric_free(&f);
    fabric_make(&f, "fat-tree hosts=30");
    assert_int_equal(f.nodes - f.hosts, 1);
    assert_int_equal(f.columns, 6);
    assert_int_equal(f.rows, 5);
    hx_fabric_free(&f);
}

static void impossible_arguments_are_refused(void **state)
{
    (void)state;
    fabric_refused("fat-tree radix=63", "radix=63 is odd: 62 and 64 can be");
    fabric_refused("fat-tree radix=66", "66");
    fabric_refused("fat-tree hosts=4096 levels=2",
                   "2 levels of 64 ports with 32 hosts a leaf join 2048 hosts at most; levels=3");
    fabric_refused("fat-tree hosts=129 radix=8", "join 128 hosts at most");
    fabric_refused("fat-tree taper=2 up=3", "taper says what down and up would");
    fabric_refused("fat-tree taper=0.5", "0.5 is outside 1 .. 63");
    fabric_refused("fat-tree down=42 up=23", "23 is outside 1 .. 22");
    fabric_refused("fat-tree tapir=2", "did you mean 'taper'");
    fabric_refused("fat-tree 8x8", "sizes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_two),
        cmocka_unit_test(clusters_of_the_paper_are_free_of_deadlock),
        cmocka_unit_test(many_small_trees),
        cmocka_unit_test(uneven_uplinks),
        cmocka_unit_test(bounds),
        cmocka_unit_test(halves_by_hand),
        cmocka_unit_test(levels_are_as_few_as_possible),
        cmocka_unit_test(impossible_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
