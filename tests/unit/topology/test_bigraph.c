/* test_bigraph.c - BiGraphs: counts, every path of many, and bounds by brute force. */
#include "tests/support/support_fabric.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* Fewest links between two halves of the switches with their hosts, over all partitions. */
static unsigned fewest_links(const struct hx_fabric *f, unsigned n)
{
    unsigned fewest = UINT32_MAX;
    for (unsigned left = 0; left < 1U << n; left++) {
        unsigned cut = 0;
        if ((unsigned)__builtin_popcount(left) != n / 2)
            continue;
        for (unsigned a = 0; a < n; a++)
            for (unsigned b = 0; b < a; b++)
                if ((left >> a & 1) != (left >> b & 1))
                    cut += fabric_links_between(f, f->hosts + a, f->hosts + b);
        fewest = cut < fewest ? cut : fewest;
    }
    return fewest;
}

static void validate(unsigned m, unsigned n)
{
    char text[64];
    struct hx_fabric f;
    snprintf(text, sizeof text, "bigraph m=%u n=%u", m, n);
    fabric_make(&f, text);
    struct fabric_findings found = fabric_validate(&f);
    assert_int_equal(found.missing, 0);
    assert_int_equal(found.diameter, n > 2 ? 4 : 3);
    assert_int_equal(f.hosts, m * n);
    assert_int_equal(f.switches, n);
    assert_int_equal(fabric_cables(&f, HX_AOC), n / 2 * (n / 2));
    assert_int_equal(fabric_cables(&f, HX_DAC), m * n);
    for (uint32_t s = 1; s < n; s++)
        assert_int_equal(fabric_shortest_paths(&f, f.hosts, f.hosts + s), s < n / 2 ? n / 2 : 1);
    if (n <= 10)
        assert_int_equal(f.topology->bisection(&f), fewest_links(&f, n));
    double share = fabric_even_share(&f);
    double bound = f.topology->alltoall_bound(&f);
    assert_true(bound > share - 1e-9 && bound < share + 1e-9);
    hx_fabric_free(&f);
}

static void many_graphs(void **state)
{
    (void)state;
    for (unsigned n = 2; n <= 12; n += 2)
        for (unsigned m = 1; m <= 7; m += m < 4 ? 1 : 3)
            validate(m, n);
    validate(8, 16);
    validate(1, 126);
    validate(63, 2);
}

/* Paths between switches of one part turn in the other. On one VC those that turn in the upper part and those that turn
 * in the lower part wait for each other. The VC of the second hop separates them. */
static void turns_need_the_second_vc(void **state)
{
    (void)state;
    static const unsigned shapes[][2] = {{1, 4}, {2, 4}, {2, 6}, {8, 16}};
    for (unsigned i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        char text[64];
        struct hx_fabric f;
        snprintf(text, sizeof text, "bigraph m=%u n=%u", shapes[i][0], shapes[i][1]);
        fabric_make(&f, text);
        assert_int_equal(f.vcs, 2);
        assert_int_equal(fabric_find(&f, 1).cycles, 0);
        f.rule = HX_VC_NEVER;
        f.vcs = 1;
        unsigned parts = shapes[i][1] / 2 * (shapes[i][1] / 2);
        assert_true(fabric_find(&f, 1).cycles >= 2 * parts);
        hx_fabric_free(&f);
    }
}

static void impossible_arguments_are_refused(void **state)
{
    (void)state;
    fabric_refused("bigraph n=15", "n=15 switches do not make two parts: 14 and 16 do");
    fabric_refused("bigraph n=16 m=57", "57 is outside 1 .. 56");
    fabric_refused("bigraph n=128", "128 is outside 2 .. 126");
    fabric_refused("bigraph x=1", "unknown key 'x'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_graphs),
        cmocka_unit_test(turns_need_the_second_vc),
        cmocka_unit_test(impossible_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
