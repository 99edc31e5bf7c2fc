/* test_circuits_report - rows of layers, loads in tenths, prices of TopoOpt. */
#include "base/error.h"
#include "tools/circuits/circuits_report.h"
#include "tools/circuits/costs.h"
#include "tools/circuits/layers.h"
#include "topology/topology.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { LAYERS = 10, SERVERS = 4 };

static void rows_have_layers_of_one_name_and_one_choice_in_succession(void **state)
{
    struct training_layer layer[LAYERS] = {
        {.name = "a 1"},     {.name = "b 1"},     {.name = "a 2"},     {.name = "b 2"},      {.name = "table 1"},
        {.name = "table 2"}, {.name = "table 3"}, {.name = "table 4"}, {.name = "block 12"}, {.name = "blocks 13"}};
    struct circuits_place place[LAYERS] = {[4] = {CIRCUITS_PLACED, 1},
                                           [5] = {CIRCUITS_PLACED, 1},
                                           [6] = {CIRCUITS_PLACED, 3},
                                           [7] = {CIRCUITS_SHARDED, 0}};
    const struct training_model m = {.layer = layer, .layers = LAYERS};
    const struct circuits_strategy s = {.m = &m, .servers = SERVERS, .place = place};
    static const struct {
        const char *name;
        uint32_t count, last, servers;
        enum circuits_choice choice;
    } rows[] = {{"a 1-2", 2, 2, SERVERS, CIRCUITS_REPLICATED},    {"b 1-2", 2, 3, SERVERS, CIRCUITS_REPLICATED},
                {"table 1-3", 3, 6, 2, CIRCUITS_PLACED},          {"table 4", 1, 7, SERVERS, CIRCUITS_SHARDED},
                {"block 12", 1, 8, SERVERS, CIRCUITS_REPLICATED}, {"blocks 13", 1, 9, SERVERS, CIRCUITS_REPLICATED}};
    struct circuits_layers l;
    (void)state;
    circuits_layers_begin(&l, &s);
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true(circuits_layers_next(&s, &l));
        assert_string_equal(l.name, rows[i].name);
        assert_int_equal(l.count, rows[i].count);
        assert_int_equal(l.layer[l.count - 1], rows[i].last);
        assert_int_equal(l.choice, rows[i].choice);
        assert_int_equal(l.servers, rows[i].servers);
    }
    assert_false(circuits_layers_next(&s, &l));
    circuits_layers_end(&l);
}

/* Each server of an ideal switch has two links. */
static void loads_are_sorted_into_tenths(void **state)
{
    enum { LINKS = 20 };
    struct network_of_servers *n = servers_ideal(LINKS / 2, 8, 0);
    double load[LINKS];
    (void)state;
    assert_int_equal(servers_links(n), LINKS);
    for (unsigned i = 0; i < LINKS; i++)
        load[i] = 1 + (i * 7) % LINKS; /* 1 .. 20 in another order */
    const struct circuits_loads l = circuits_loads_of(n, load);
    assert_int_equal(l.links, LINKS);
    assert_true(fabs(l.mean - 10.5) < 1e-12);
    assert_true(l.tenth[0] == 1);
    for (unsigned i = 1; i <= CIRCUITS_TENTHS; i++)
        assert_true(l.tenth[i] == 2 * i);
    servers_free(n);
}

static void the_prices_are_those_of_the_example(void **state)
{
    const struct hx_prices *own = &circuits_prices;
    struct hx_prices p;
    struct hx_problem problem;
    (void)state;
    assert_true(hx_prices_read(&p, "examples/prices/topoopt.yaml", &problem));
    assert_int_equal(p.rates, own->rates);
    for (unsigned i = 0; i < p.rates; i++) {
        assert_true(p.rate[i].gbps == own->rate[i].gbps && p.rate[i].transceiver == own->rate[i].transceiver);
        assert_true(p.rate[i].nic == own->rate[i].nic && p.rate[i].port == own->rate[i].port);
    }
    assert_true(p.box == own->box && p.optical == own->optical && p.circuit == own->circuit);
    for (unsigned kind = 0; kind < HX_LINK_KINDS; kind++)
        assert_true(p.cable[kind] == own->cable[kind]);
    assert_true(p.metre == own->metre && p.longest == own->longest);
    assert_true(p.panel == own->panel && p.ocs == own->ocs && p.flip == own->flip);
    assert_true(p.gbyte_cable == own->gbyte_cable && p.gbyte_nic == own->gbyte_nic && p.gbyte_port == own->gbyte_port);
}

static void assert_spec(uint32_t hosts, bool tapered, const char *expected)
{
    char spec[CIRCUITS_TREE_SPEC];
    struct hx_fabric f;
    struct hx_problem problem;
    circuits_tree_spec(spec, hosts, tapered);
    assert_string_equal(spec, expected);
    assert_true(hx_fabric_make(&f, spec, 1, &problem));
    assert_int_equal(f.hosts, hosts);
    hx_fabric_free(&f);
}

static void trees_of_three_levels_have_room_for_all_hosts(void **state)
{
    (void)state;
    assert_spec(128, false, "fat-tree hosts=128 radix=8 levels=3"); /* 8^3 / 4 */
    assert_spec(129, false, "fat-tree hosts=129 radix=10 levels=3");
    assert_spec(16, false, "fat-tree hosts=16 radix=4 levels=3");
    assert_spec(2, false, "fat-tree hosts=2 radix=4 levels=3");
    assert_spec(1024, false, "fat-tree hosts=1024 radix=16 levels=3");
    assert_spec(128, true, "fat-tree hosts=128 radix=8 levels=3 down=4 up=2");
    assert_spec(129, true, "fat-tree hosts=129 radix=12 levels=3 down=6 up=3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_have_layers_of_one_name_and_one_choice_in_succession),
                                       cmocka_unit_test(loads_are_sorted_into_tenths),
                                       cmocka_unit_test(the_prices_are_those_of_the_example),
                                       cmocka_unit_test(trees_of_three_levels_have_room_for_all_hosts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
