/* test_prices.c - files of prices, and what interfaces and fabrics cost at them. */
#include "base/error.h"
#include "tests/support/support_fabric.h"
#include "tests/support/support_file.h"
#include "topology/bill.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%.12g, expected %.12g", value, expected);
}

static struct hx_prices prices_of(const char *path)
{
    struct hx_prices p;
    struct hx_problem problem;
    if (!hx_prices_read(&p, path, &problem))
        fail_msg("%s: %s", problem.where, problem.what);
    return p;
}

static struct hx_prices topoopt(void)
{
    return prices_of("examples/prices/topoopt.yaml");
}

/* ---- files ---- */

static void the_example_of_the_default_is_the_default(void **state)
{
    (void)state;
    const struct hx_prices p = prices_of("examples/prices/hammingmesh.yaml"), *d = &hx_default_prices;
    assert_true(p.box == d->box && p.panel == d->panel && p.ocs == d->ocs && p.flip == d->flip);
    for (unsigned kind = 0; kind < HX_LINK_KINDS; kind++)
        assert_true(p.cable[kind] == d->cable[kind]);
    assert_int_equal(p.rates, d->rates);
    assert_true(p.metre == d->metre && p.longest == d->longest);
    assert_true(p.optical == d->optical && p.circuit == d->circuit);
    assert_true(p.gbyte_cable == d->gbyte_cable && p.gbyte_nic == d->gbyte_nic && p.gbyte_port == d->gbyte_port);
}

#define FILE_NAME "prices.yaml"

static bool read_text(const char *text, struct hx_problem *problem)
{
    struct hx_prices p;
    return hx_prices_read(&p, file_write_text(FILE_NAME, text), problem);
}

static void every_invalid_file_is_refused_where_it_is_wrong(void **state)
{
    (void)state;
    static const struct file_refusal bad[] = {
        {"switches: 1\n", ":1:1", "unknown key 'switches' (did you mean 'switch'?)"},
        {"cables:\n  copper: 1\n", ":2:3", "unknown key 'copper'"},
        {"switch: -1\n", ":1:9", "switch: '-1' is not a number (0 .. 1e+09)"},
        {"switch: dear\n", ":1:9", "switch: 'dear' is not a number (0 .. 1e+09)"},
        {"switch: [1]\n", ":1:9", "switch: a single value expected, found a list"},
        {"switch: 1e10\n", ":1:9", "switch: 1e10 is outside 0 .. 1e+09"},
        {"switch: nan\n", ":1:9", "switch: 'nan' is not a number (0 .. 1e+09)"},
        {"switch: 1\nswitch: 2\n", ":2:1", "key 'switch' is given twice (first in line 1)"},
        {"rates: []\n", ":1:8", "rates: at least 1 entries expected"},
        {"rates: 5\n", ":1:8", "rates: a list expected, found a single value"},
        {"rates:\n  - {nic: 5}\n", ":2:5", "key 'gbps' is missing"},
        {"rates:\n  - {gbps: 0}\n", ":2:12", "gbps: 0 is outside 1 .. 1e+06"},
        {"rates:\n  - {gbps: 10, nic: x}\n", ":2:21", "nic: 'x' is not a number (0 .. 1e+06)"},
        {"rates:\n  - {gbps: 10}\n  - {gbps: 10}\n", ":3:12",
         "10 Gb/s is not above the rate before it, 10: sort the list"},
        {"fibre: {cables: copper}\n", ":1:17", "fibre.cables: unknown word 'copper' (one of aoc, all)"},
        {"fibre: {longest: -3}\n", ":1:18", "fibre.longest: '-3' is not a number (0 .. 100000)"},
        {"circuits: {by: robot}\n", ":1:16", "circuits.by: unknown word 'robot' (one of panel, lookahead, ocs, fibre)"},
        {"", ":1:1", "the file is empty"},
    };
    file_refused(FILE_NAME, bad, sizeof bad / sizeof *bad, read_text);
}

static void more_rates_than_there_is_room_for_are_refused(void **state)
{
    (void)state;
    char text[64 * (HX_MOST_RATES + 1)] = "rates:\n";
    for (unsigned i = 0; i <= HX_MOST_RATES; i++)
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), "  - {gbps: %u}\n", i + 1);
    file_refused(FILE_NAME, &(struct file_refusal){text, ":2:3", "rates: at most 16 entries allowed"}, 1, read_text);
}

/* ---- rates ---- */

static void prices_between_two_rates_are_on_the_line_between_them(void **state)
{
    (void)state;
    const struct hx_prices p = topoopt();
    struct hx_link_price l = hx_link_price(&p, 100);
    assert_true(l.links == 1 && l.transceiver == 99 && l.nic == 678 && l.port == 187 && l.fibre == 150);
    l = hx_link_price(&p, 150);
    near(l.nic, (678 + 815) / 2.0);
    near(l.port, (187 + 374) / 2.0);
    near(hx_link_price(&p, 13).transceiver, 20 + 19 * 0.2);
    l = hx_link_price(&p, 1); /* no cheaper than the first */
    assert_true(l.links == 1 && l.transceiver == 20 && l.nic == 185 && l.port == 94);
    l = hx_link_price(&p, 500); /* two and a half of the last */
    assert_true(l.links == 2.5 && l.transceiver == 495 && l.nic == 2037.5 && l.port == 935 && l.fibre == 375);
    l = hx_link_price(&hx_default_prices, 100);
    assert_true(l.links == 1 && l.transceiver == 0 && l.nic == 0 && l.port == 0 && l.fibre == 0);
}

/* ---- interfaces ---- */

static void an_interface_costs_what_its_parts_cost(void **state)
{
    (void)state;
    const struct hx_prices p = topoopt();
    near(hx_circuit_usd(&p, HX_CIRCUIT_PANEL, 100), 678 + 99 + 100 + 150);
    near(hx_circuit_usd(&p, HX_CIRCUIT_LOOKAHEAD, 100), 678 + 99 + 2 * 100 + 2 * 25 + 150);
    near(hx_circuit_usd(&p, HX_CIRCUIT_OCS, 100), 678 + 99 + 520 + 150);
    near(hx_circuit_usd(&p, HX_CIRCUIT_FIBRE, 100), 678 + 99 + 75);
    near(hx_circuit_usd(&p, HX_CIRCUIT_PANEL, 400), 2 * (815 + 198 + 100 + 150));
    near(hx_tree_usd(&p, 1, 1, 100), 678 + 187 + 2 * 99 + 150);
    near(hx_tree_usd(&p, 2, 1, 100), 678 + 3 * 187 + 4 * 99 + 2 * 150);
    near(hx_tree_usd(&p, 3, 1, 100), 678 + 5 * 187 + 6 * 99 + 3 * 150);
    near(hx_tree_usd(&p, 3, 2, 100), 678 + 3 * 187 + 4 * 99 + 2 * 150);
}

static void a_tree_has_as_many_levels_as_its_hosts_need(void **state)
{
    (void)state;
    assert_int_equal(hx_tree_levels(64, 64), 1);
    assert_int_equal(hx_tree_levels(65, 64), 2);
    assert_int_equal(hx_tree_levels(2048, 64), 2);
    assert_int_equal(hx_tree_levels(2049, 64), 3);
    assert_int_equal(hx_tree_levels(65537, 64), 0);
    assert_int_equal(hx_tree_levels(128, 8), 3);
    assert_int_equal(hx_tree_levels(129, 8), 0);
}

/* Table 2 at the five rates: circuit switches cost 1.33 times as much as panels. */
static void circuit_switches_cost_more_than_panels_as_published(void **state)
{
    (void)state;
    const struct hx_prices p = topoopt();
    double sum = 0;
    for (unsigned i = 0; i < p.rates; i++)
        sum += hx_circuit_usd(&p, HX_CIRCUIT_OCS, p.rate[i].gbps) /
               hx_circuit_usd(&p, HX_CIRCUIT_LOOKAHEAD, p.rate[i].gbps);
    assert_int_equal(p.rates, 5);
    assert_true(fabs(sum / p.rates - 1.33) < 0.005);
}

/* Published: an ideal switch costs 3.2 times as much; a tree of equal cost is 2.8 to 3 times as slow. */
static void a_tree_of_equal_cost_is_slower_about_as_published(void **state)
{
    (void)state;
    const struct hx_prices p = topoopt();
    double sum = 0;
    for (unsigned i = 0; i < p.rates; i++) {
        const double usd = hx_circuit_usd(&p, HX_CIRCUIT_PANEL, p.rate[i].gbps);
        sum += 4 * p.rate[i].gbps / hx_tree_of_equal_cost(&p, 3, usd, 4, p.rate[i].gbps);
    }
    assert_true(fabs(sum / p.rates - 2.96) < 0.005);
    assert_true(fabs(sum / p.rates / 3.2 - 1) < 0.2);
}

static void a_tree_of_equal_cost_costs_the_same(void **state)
{
    (void)state;
    const struct hx_prices p = topoopt();
    const double usd = hx_tree_usd(&p, 3, 1, 40);
    near(hx_tree_of_equal_cost(&p, 3, usd, 4, 40), 4 * 40);
    near(hx_tree_of_equal_cost(&p, 3, usd / 2, 4, 40), 2 * 40);
    assert_true(hx_tree_of_equal_cost(&hx_default_prices, 3, 600, 4, 100) == 0);
}

/* ---- fabrics ---- */

/* Of one plane. */
static double usd_of(const char *text, const struct hx_prices *p, double gbps)
{
    struct hx_fabric f;
    fabric_make(&f, text);
    const struct hx_bill bill = hx_fabric_bill(&f, p, gbps);
    const double usd = (double)bill.usd / f.bought_planes;
    hx_fabric_free(&f);
    return usd;
}

static void a_fat_tree_costs_what_its_interfaces_cost(void **state)
{
    (void)state;
    const struct hx_prices p = topoopt();
    near(usd_of("fat-tree hosts=128 radix=8 levels=3", &p, 100), 128 * hx_tree_usd(&p, 3, 1, 100));
    near(usd_of("fat-tree hosts=32 radix=8 levels=2", &p, 200), 32 * hx_tree_usd(&p, 2, 1, 200));
    near(usd_of("fat-tree hosts=32 radix=8 levels=2 fail=spine0+leaf1", &p, 200), 32 * hx_tree_usd(&p, 2, 1, 200));
}

static void circuits_of_hosts_that_forward_cost_two_ends_each(void **state)
{
    (void)state;
    struct hx_prices p = topoopt();
    char text[FILE_PATH_BYTES + 32];
    (void)snprintf(text, sizeof text, "graph %s",
                   file_write_text("ring.csv", "forward a\nforward b\nforward c\nforward d\n"
                                               "a,b,100,,aoc\nb,c,100,,aoc\nc,d,25,,aoc\nd,a,,,dac\n"));
    for (p.circuit = 0; p.circuit < HX_CIRCUITS; p.circuit++)
        near(usd_of(text, &p, 40), 4 * hx_circuit_usd(&p, p.circuit, 100) + 2 * hx_circuit_usd(&p, p.circuit, 25) +
                                       2 * hx_circuit_usd(&p, p.circuit, 40));
    p = topoopt();
    const double whole = usd_of(text, &p, 40);
    const size_t used = strlen(text);
    (void)snprintf(text + used, sizeof text - used, " fail=switch1"); /* links and traces that failed were bought */
    near(usd_of(text, &p, 40), whole);
    text[used] = 0;
    p.optical = HX_OPTICAL_AOC; /* then the copper cable has two NICs alone */
    p.cable[HX_DAC] = 7;
    near(usd_of(text, &p, 40),
         4 * hx_circuit_usd(&p, p.circuit, 100) + 2 * hx_circuit_usd(&p, p.circuit, 25) + 2 * 354 + 7);
    p.cable[HX_TRACE] = 1;
    near(usd_of(text, &p, 40) - 4,
         4 * hx_circuit_usd(&p, p.circuit, 100) + 2 * hx_circuit_usd(&p, p.circuit, 25) + 2 * 354 + 7);
}

/* A torus of hosts: all cables are between servers. */
static void routers_beside_hosts_are_servers(void **state)
{
    (void)state;
    const struct hx_prices p = topoopt();
    near(usd_of("torus 4x4", &p, 100), 32 * 2 * hx_circuit_usd(&p, HX_CIRCUIT_LOOKAHEAD, 100));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_example_of_the_default_is_the_default),
        cmocka_unit_test(every_invalid_file_is_refused_where_it_is_wrong),
        cmocka_unit_test(more_rates_than_there_is_room_for_are_refused),
        cmocka_unit_test(prices_between_two_rates_are_on_the_line_between_them),
        cmocka_unit_test(an_interface_costs_what_its_parts_cost),
        cmocka_unit_test(a_tree_has_as_many_levels_as_its_hosts_need),
        cmocka_unit_test(circuit_switches_cost_more_than_panels_as_published),
        cmocka_unit_test(a_tree_of_equal_cost_is_slower_about_as_published),
        cmocka_unit_test(a_tree_of_equal_cost_costs_the_same),
        cmocka_unit_test(a_fat_tree_costs_what_its_interfaces_cost),
        cmocka_unit_test(circuits_of_hosts_that_forward_cost_two_ends_each),
        cmocka_unit_test(routers_beside_hosts_are_servers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
