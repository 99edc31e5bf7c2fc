/* test_ring_order.c - groups of hosts that are a ring, and the ring of a collective on them. */
#include "spec/spec.h"
#include "workload/collective_choice.h"
#include "workload/ring_order.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 64 };

static void build(struct hx_fabric *g, const char *text)
{
    struct hx_problem problem;
    if (!hx_fabric_make(g, text, 1, &problem))
        fail_msg("%s: %s", text, problem.what);
}

static void assert_ring(const char *fabric, bool is_ring, const uint32_t *host, const uint32_t *expected,
                        uint32_t hosts)
{
    struct hx_fabric g;
    uint32_t order[MOST];
    build(&g, fabric);
    memcpy(order, host, hosts * sizeof *host);
    assert_int_equal(ring_order(&g, order, hosts), is_ring);
    assert_memory_equal(order, expected, hosts * sizeof *host);
    hx_fabric_free(&g);
}

static void hosts_on_a_ring_of_cables_are_one(void **state)
{
    (void)state;
    static const uint32_t all[] = {0, 1, 2, 3, 4, 5, 6, 7};
    static const uint32_t other[] = {0, 2, 4, 6};
    static const uint32_t column[] = {1, 5, 9, 13};
    static const uint32_t square[] = {0, 1, 4, 5}, around[] = {0, 1, 5, 4};
    static const uint32_t border[] = {0, 1, 2, 5, 8, 10, 12, 13, 14};
    assert_ring("Ring(8)", true, all, all, 8);
    assert_ring("Ring(8)", true, other, other, 4);
    assert_ring("Ring(8)_Switch(4)", true, all, all, 8);
    assert_ring("torus 4x4", true, column, column, 4);
    assert_ring("torus 4x4", true, square, around, 4);
    assert_ring("torus 5x5", false, border, border, 9);
    assert_ring("FC(8)", false, all, all, 8);
    assert_ring("fat-tree hosts=8", false, all, all, 8);
    assert_ring("torus 4x4", false, all, all, 8);
}

/* The ring of a collective of a whole fabric, from position 0 on. */
static void ring_of(const char *fabric, const char *place, uint32_t *order, uint32_t hosts)
{
    struct hx_spec spec;
    struct hx_problem problem;
    struct traffic t;
    struct collective_plan plan;
    struct hx_settings settings = hx_default_settings;
    assert_true(hx_spec_try_load(fabric, NULL, &spec, &problem));
    settings.pattern = HX_COLLECTIVES + HX_ALL_REDUCE;
    settings.algorithm = HX_ALGORITHM_TREE + HX_BY_RING;
    settings.message = 1 << 20;
    settings.place = place;
    traffic_init(&t, &spec, hx_spec_fabric(&spec), &settings, NULL);
    assert_true(collective_plan_init(&plan, &t, &problem));
    struct hx_collective_config config = plan.job[0].config;
    for (uint32_t i = 0; i < hosts; i++) {
        struct hx_collective_move move;
        order[i] = plan.job[0].host[config.position];
        hx_collective_move(&config, 0, 0, 0, &move);
        config.position = move.to;
    }
    assert_int_equal(config.position, 0);
    collective_plan_free(&plan);
    traffic_free(&t);
    hx_spec_free(&spec);
}

static void a_ring_goes_from_neighbour_to_neighbour(void **state)
{
    (void)state;
    static const char *const fabrics[] = {"Ring(8)", "Ring(16)", "torus 4x4", "torus 6x6"};
    for (unsigned i = 0; i < sizeof fabrics / sizeof *fabrics; i++) {
        struct hx_fabric g;
        uint32_t order[MOST];
        build(&g, fabrics[i]);
        ring_of(fabrics[i], NULL, order, g.hosts);
        for (uint32_t n = 0; n < g.hosts; n++)
            assert_true(ring_order_are_joined(&g, order[n], order[(n + 1) % g.hosts]));
        hx_fabric_free(&g);
    }
}

static void a_ring_keeps_the_order_of_a_placement(void **state)
{
    (void)state;
    static const char *const fabrics[] = {"Ring(16)", "torus 4x4", "fat-tree hosts=16"};
    for (unsigned i = 0; i < sizeof fabrics / sizeof *fabrics; i++) {
        uint32_t order[MOST];
        ring_of(fabrics[i], "linear", order, 16);
        for (uint32_t n = 0; n < 16; n++)
            assert_int_equal(order[n], n);
    }
}

/* A group of a schedule with a placement gives its own order. */
static void a_ring_keeps_the_order_that_is_given(void **state)
{
    (void)state;
    static const uint32_t host[] = {0, 5, 2, 7, 4, 1, 6, 3};
    struct hx_spec spec;
    struct hx_problem problem;
    struct traffic t;
    assert_true(hx_spec_try_load("torus 4x4", NULL, &spec, &problem));
    traffic_init(&t, &spec, hx_spec_fabric(&spec), &hx_default_settings, NULL);
    const struct collective_family family = {host, 8, 1, NULL};
    struct collective_job job = {.config = {.kind = HX_ALL_REDUCE, .bytes = 1 << 20}, .root_host = 5, .given = host};
    assert_true(collective_plan_group(&job, &t, &family, 0, HX_ALGORITHM_TREE + HX_BY_RING, NULL, &problem));
    assert_memory_equal(job.host, host, sizeof host);
    assert_int_equal(job.config.dimensions, 0);
    assert_int_equal(job.config.root, 1);
    free(job.host);
    traffic_free(&t);
    hx_spec_free(&spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_on_a_ring_of_cables_are_one),
        cmocka_unit_test(a_ring_goes_from_neighbour_to_neighbour),
        cmocka_unit_test(a_ring_keeps_the_order_of_a_placement),
        cmocka_unit_test(a_ring_keeps_the_order_that_is_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
