/* test_injection.c - injection bandwidth of hosts is made equal by planes, and by injection rates for the rest. */
#include "spec/spec.h"
#include "tools/injection.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void hosts_inject_by_their_links(void **state)
{
    (void)state;
    static const struct {
        const char *fabric;
        double links;
        bool has_rates;
    } cases[] = {{"2x2 Hx2Mesh", 4, false},
                 {"fat-tree hosts=8 radix=4", 1, false},
                 {"torus 4x4x4", 6, false},
                 {"FC(4) gbps=200", 1.5, true}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hx_fabric g;
        struct hx_problem problem;
        assert_true(hx_fabric_make(&g, cases[i].fabric, 1, &problem));
        struct injection in = injection_of(&g, 3, 400);
        assert_true(fabs(in.links - cases[i].links) < 1e-9);
        assert_int_equal(in.has_rates, cases[i].has_rates);
        assert_true(fabs(injection_total(&in) - 3 * 400 * cases[i].links) < 1e-6);
        hx_fabric_free(&g);
    }
}

enum { MOST = 3 };

static void planes_equalize_injection(void **state)
{
    (void)state;
    static const struct {
        unsigned count, most;
        double links[MOST];
        unsigned before[MOST], planes[MOST]; /* a number that is not possible */
    } cases[] = {
        {2, 4, {4, 1}, {1, 1}, {1, 4}},     {3, 4, {1, 4, 2}, {1, 1, 1}, {4, 1, 2}},
        {2, 64, {4, 6}, {4, 4}, {6, 4}},    {2, 64, {4, 6}, {1, 1}, {3, 2}},
        {2, 64, {4, 1}, {4, 16}, {4, 16}},  {2, 4, {6, 4}, {1, 1}, {2, 3}},
        {3, 4, {6, 4, 1}, {1, 1, 1}, {0}},  {2, 4, {1, 5}, {1, 1}, {0}},
        {2, 64, {1, 1.25}, {1, 1}, {5, 4}}, {1, 4, {3}, {2}, {2}},
        {2, 4, {1, 2}, {4, 1}, {4, 2}},     {2, 4, {1, 0.3}, {1, 1}, {3, 0}},
    };
    for (unsigned c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct injection all[MOST] = {{0}};
        for (unsigned i = 0; i < cases[c].count; i++)
            all[i] = (struct injection){
                .links = cases[c].links[i], .gbps = 400, .planes = cases[c].before[i], .rate = 1, .has_rates = true};
        bool can = cases[c].planes[0] && cases[c].planes[cases[c].count - 1];
        assert_int_equal(injection_equal(all, cases[c].count, cases[c].most, 0), can);
        for (unsigned i = 0; can && i < cases[c].count; i++)
            assert_true(all[i].planes == cases[c].planes[i] && all[i].rate == 1);
        assert_int_equal(injection_differs(all, cases[c].count), cases[c].count);
    }
}

static void injection_rates_do_the_rest(void **state)
{
    (void)state;
    struct injection all[] = {{.links = 6, .gbps = 400, .planes = 1, .rate = 1},
                              {.links = 4, .gbps = 400, .planes = 1, .rate = 1},
                              {.links = 1, .gbps = 400, .planes = 1, .rate = 1}};
    assert_int_equal(injection_differs(all, 3), 1);
    assert_true(injection_equal(all, 3, 4, 0));
    assert_int_equal(injection_differs(all, 3), 3);
    assert_true(all[0].rate == 1 && all[1].planes == 1 && fabs(all[1].rate - 1.5) < 1e-9);
    assert_true(all[2].planes == 4 && fabs(all[2].rate - 1.5) < 1e-9);
    struct injection fixed[] = {{.links = 6, .gbps = 400, .planes = 1, .rate = 1},
                                {.links = 1, .gbps = 400, .planes = 1, .rate = 1, .has_rates = true}};
    assert_false(injection_equal(fixed, 2, 4, 0));
}

/* Links of other rates count by their rate: six of 200 Gb/s are three of 400. */
static void default_rates_count(void **state)
{
    (void)state;
    struct injection of[] = {{.links = 6, .gbps = 200, .planes = 1, .rate = 1},
                             {.links = 1, .gbps = 400, .planes = 1, .rate = 1}};
    assert_int_equal(injection_differs(of, 2), 1);
    assert_true(injection_equal(of, 2, 4, 0));
    assert_true(of[0].planes == 1 && of[0].rate == 1 && of[1].planes == 3 && of[1].rate == 1);
}

/* What is given is reached by planes, as far as there are whole ones; also below what a fabric injects. */
static void injection_can_be_given(void **state)
{
    (void)state;
    static const struct {
        double links, gbps;
        unsigned planes;
        double rate;
    } cases[] = {{4, 1600, 1, 1}, {4, 4800, 3, 1},   {1, 1600, 4, 1},  {1, 2400, 4, 1.5},
                 {6, 4800, 2, 1}, {4, 2400, 1, 1.5}, {4, 800, 1, 0.5}, {4, 9600, 4, 1.5}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct injection one = {.links = cases[i].links, .gbps = 400, .planes = 2, .rate = 1};
        assert_true(injection_equal(&one, 1, 4, cases[i].gbps));
        assert_int_equal(one.planes, cases[i].planes);
        assert_true(fabs(one.rate - cases[i].rate) < 1e-9);
        assert_true(fabs(injection_total(&one) - cases[i].gbps) < 1e-6);
        assert_true(fabs(injection_link(&one) - 400 * cases[i].rate) < 1e-6);
    }
}

/* A list without rates prices planes; a multiple of their rate costs that multiple. One with rates says it itself. */
static void planes_and_rates_have_a_price(void **state)
{
    (void)state;
    struct hx_fabric g;
    struct hx_problem problem;
    assert_true(hx_fabric_make(&g, "fat-tree hosts=8 radix=4", 1, &problem));
    struct injection in = {.links = 1, .gbps = 400, .planes = 2, .rate = 1};
    const double usd = injection_usd(&in, &g, &hx_default_prices);
    in.planes = 4;
    in.rate = 1.5;
    assert_true(usd > 0 && fabs(injection_usd(&in, &g, &hx_default_prices) - 3 * usd) < 1);
    struct hx_prices by_rate = {.rates = 1, .rate = {{.gbps = 600, .nic = 70}}};
    assert_true(fabs(injection_usd(&in, &g, &by_rate) - 4.0 * 8 * 70) < 1);
    assert_int_equal(g.bought_planes, 16);
    hx_fabric_free(&g);
}

/* The options of a run give each fabric the same injection. */
static void runs_are_told_their_planes_and_rates(void **state)
{
    (void)state;
    static const struct {
        const char *fabric[2], *argument[2];
    } cases[] = {{{"2x2 Hx2Mesh", "fat-tree hosts=8 radix=4"}, {"--planes=1", "--planes=4"}},
                 {{"2x2 Hx1Mesh", "torus 4x4x4"}, {"--planes=3", "--planes=2"}}};
    const struct hx_timing timing = HX_DEFAULT_TIMING;
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct injected both[2];
        for (unsigned f = 0; f < 2; f++) {
            struct hx_spec spec;
            struct hx_problem problem;
            assert_true(hx_spec_try_load(cases[i].fabric[f], NULL, &spec, &problem));
            both[f] = injected_of(cases[i].fabric[f], &spec, 0, &timing);
            hx_spec_free(&spec);
        }
        injected_settle(both, 2, &(struct injection_wish){.equal = true}, true);
        for (unsigned f = 0; f < 2; f++) {
            struct hx_arguments a = {.count = 0};
            injected_add(&both[f], &a);
            assert_int_equal(a.count, 1);
            assert_string_equal(a.item[0], cases[i].argument[f]);
            hx_arguments_free(&a);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(hosts_inject_by_their_links),
                                       cmocka_unit_test(planes_equalize_injection),
                                       cmocka_unit_test(injection_rates_do_the_rest),
                                       cmocka_unit_test(default_rates_count),
                                       cmocka_unit_test(injection_can_be_given),
                                       cmocka_unit_test(planes_and_rates_have_a_price),
                                       cmocka_unit_test(runs_are_told_their_planes_and_rates)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
