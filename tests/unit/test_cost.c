/* test_cost.c - appendix C of the paper: its five HxMesh clusters as rounded there, and small fabrics by hand. */
#include "hxmesh/error.h"
#include "topology/bill.h"
#include "topology/hamming_mesh.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static struct hx_bill cost_of(unsigned a, unsigned b, unsigned x, unsigned y, unsigned radix, unsigned taper)
{
    struct hx_geometry g;
    assert_int_equal(hx_geometry_init(&g, a, b, x, y, 1, radix, taper), HX_OK);
    struct hx_fabric f;
    hx_fabric_of_mesh(&f, &g);
    struct hx_bill bill = hx_fabric_bill(&f, &hx_default_prices, HX_LINK_GBPS);
    hx_fabric_free(&f);
    return bill;
}

static void costs_are_the_papers(void **state)
{
    (void)state;
    static const struct {
        unsigned side, boards;
        const char *millions; /* table II, with its rounding */
        int decimals;
    } clusters[] = {{2, 16, "5.4", 1}, {4, 8, "2.7", 1}, {1, 32, "10.8", 1}, {2, 64, "224", 0}, {4, 32, "43.3", 1}};
    for (unsigned i = 0; i < sizeof clusters / sizeof *clusters; i++) {
        unsigned side = clusters[i].side;
        unsigned boards = clusters[i].boards;
        char millions[16];
        snprintf(millions, sizeof millions, "%.*f", clusters[i].decimals,
                 (double)cost_of(side, side, boards, boards, 64, 1).usd / 1e6);
        assert_string_equal(millions, clusters[i].millions);
    }
}

static void assert_parts(struct hx_bill c, unsigned switches, unsigned dac, unsigned aoc)
{
    assert_int_equal(c.switches, 4 * switches);
    assert_int_equal(c.cables[HX_DAC], 4 * dac);
    assert_int_equal(c.cables[HX_AOC], 4 * aoc);
    assert_int_equal(c.usd, c.switches * 14280 + c.cables[HX_DAC] * 272 + c.cables[HX_AOC] * 603);
}

static void parts_are_counted_by_the_rules(void **state)
{
    (void)state;
    /* 16 board rows and columns, two lines of 32 ports each on one switch. */
    assert_parts(cost_of(2, 2, 16, 16, 64, 1), 32, 1024, 1024);
    /* Rows: b*2x = 4*2*3 = 24 ports, one switch a board row. Columns: a*2y = 2*2*2 = 8 ports. */
    assert_parts(cost_of(2, 4, 3, 2, 64, 1), 2 + 3, 8 * 6, 6 * 4);
    /* Radix 16: 24 ports need several switches, 6 fit on one. */
    assert_parts(cost_of(2, 4, 3, 2, 16, 1), 8 + 3, 8 * 6, 6 * 4);
    /* Radix 4: a row's 6 ports need 3 leaves (2 down, 2 up) and 2 spines; columns of 4 ports one switch each. */
    assert_parts(cost_of(2, 4, 3, 2, 4, 1), 8 * 5 + 6, 8 * 6, 6 * 4 + 8 * 6);
    /* 128 ports: 4 leaves, 2 spines; tapered 3 to 1: 3 leaves of 48 down and 16 up, 1 spine. */
    assert_parts(cost_of(2, 2, 64, 64, 64, 1), 256 * 6, 128 * 128, 128 * 128 + 256 * 128);
    assert_parts(cost_of(2, 2, 64, 64, 64, 3), 256 * 4, 128 * 128, 128 * 128 + 256 * 48);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(costs_are_the_papers),
        cmocka_unit_test(parts_are_counted_by_the_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
