/* test_collective_model.c - the closed forms of spec/collective_model.c, against sums by hand. */
#include "spec/collective_model.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct hx_collective_model model(enum hx_collective_kind kind, enum hx_collective_algorithm algorithm)
{
    return (struct hx_collective_model){kind, algorithm, 4, 4, .bytes = 1600, .alpha = 3, .link_rate = 100};
}

static void validate(struct hx_collective_model m, double steps, double link)
{
    assert_true(fabs(hx_model_steps(&m) - steps) < 1e-6);
    assert_true(fabs(hx_model_link_bytes(&m) - link) < 1e-6);
    assert_true(fabs(hx_model_seconds(&m) - (steps * 3 + link / 100)) < 1e-6);
}

static void sixteen_accelerators(void **state)
{
    (void)state;
    validate(model(HX_ALL_REDUCE, HX_BY_RING), 30, 1500);
    validate(model(HX_ALL_REDUCE, HX_BY_RINGS), 30, 750);
    validate(model(HX_REDUCE_SCATTER, HX_BY_RINGS), 15, 375);
    validate(model(HX_ALL_GATHER, HX_BY_RING), 15, 750);
    validate(model(HX_BROADCAST, HX_BY_RING), 15, 800);
    validate(model(HX_BROADCAST, HX_BY_RINGS), 15, 400);
    /* each half: 800 bytes in two directions; 3/4 of 400 out, 3/4 of 100 twice, 3/4 of 400 back */
    validate(model(HX_ALL_REDUCE, HX_BY_TORUS), 12, 300 + 150 + 300);
    validate(model(HX_REDUCE_SCATTER, HX_BY_TORUS), 6, 375);
    validate(model(HX_BROADCAST, HX_BY_TORUS), 6, 800);
    validate(model(HX_ALL_REDUCE, HX_BY_TREE), 8, 8 * 1600);
    validate(model(HX_BROADCAST, HX_BY_TREE), 4, 4 * 1600);
    validate(model(HX_REDUCE_SCATTER, HX_BY_TREE), 8, 8 * 1600);
}

static void large_vectors_come_near_half_of_injection(void **state)
{
    (void)state;
    struct hx_collective_model m = {HX_ALL_REDUCE, HX_BY_RINGS,      32, 32, .bytes = 1e12,
                                    .alpha = 1e-6, .link_rate = 50e9};
    assert_true(hx_model_share(&m) > 0.999 && hx_model_share(&m) < 1.002);
    m.algorithm = HX_BY_TORUS;
    assert_true(hx_model_share(&m) > 0.999 && hx_model_share(&m) < 1.002);
    m.algorithm = HX_BY_RING;
    assert_true(hx_model_share(&m) > 0.499 && hx_model_share(&m) < 0.501);
}

/* All stripes share the one link of a host: any algorithm takes twice the vector less the part that stays. */
static void hosts_of_one_link(void **state)
{
    (void)state;
    static const enum hx_collective_algorithm all[] = {HX_BY_RING, HX_BY_RINGS, HX_BY_TORUS};
    for (unsigned i = 0; i < 3; i++) {
        struct hx_collective_model m = model(HX_ALL_REDUCE, all[i]);
        m.alpha = 0;
        m.injection = m.link_rate;
        assert_true(fabs(hx_model_host_bytes(&m) - 2 * 1600 * 15 / 16.0) < 1e-6);
        assert_true(fabs(hx_model_seconds(&m) - 2 * 16 * 15 / 16.0) < 1e-6);
    }
}

static void validate_seconds(enum hx_collective_algorithm algorithm, unsigned ranks, double bytes, double seconds)
{
    struct hx_collective_model m = model(HX_ALL_REDUCE, algorithm);
    m.columns = ranks;
    m.rows = 1;
    m.bytes = bytes;
    m.chunk = algorithm == HX_BY_CHAIN ? 512 : 256;
    assert_true(fabs(hx_model_seconds(&m) - seconds) < 1e-6);
}

/* Four links of 100 bytes a second. */
static void at_a_switch(void **state)
{
    (void)state;
    validate_seconds(HX_BY_DOUBLING, 16, 1600, 4 * 3 + 4 * 4);
    validate_seconds(HX_BY_HALVING, 16, 1600, 8 * 3 + 2 * 4 * 15 / 16.0);
    /* Four of twelve fold. Their first exchange with one of the others is the last, of an eighth. */
    validate_seconds(HX_BY_DOUBLING, 12, 1600, 4 * 3 + (3 + 2 + 1) * 4);
    validate_seconds(HX_BY_HALVING, 12, 1600, 8 * 3 + 2 * 4 * 7 / 8.0 + 2 * 4 + 4 / 8.0);
    /* Six of fourteen: the first exchange that meets is the second. */
    validate_seconds(HX_BY_DOUBLING, 14, 1600, 5 * 3 + (3 + 2 + 1) * 4);
    validate_seconds(HX_BY_HALVING, 14, 1600, 8 * 3 + 2 * 4 * 7 / 8.0 + 2 * 4 + 4 / 4.0);
    /* 100 bytes to each are a block. */
    validate_seconds(HX_BY_DIRECT, 16, 1600, 2 * 3 + 30 * 256 / 400.0);
}

static void pipelines(void **state)
{
    (void)state;
    validate_seconds(HX_BY_CHAIN, 16, 1536, 30 * (3 + 1.28) + 2 * 1.28);
    validate_seconds(HX_BY_CHAIN, 16, 51200, 30 * (3 + 1.28) + 99 * 1.28 + (99 * 1.28 - 2 * 3));
    validate_seconds(HX_BY_DOUBLE_TREE, 16, 2048, 8 * (3 + 2 * 0.64) + 3 * 4 * 0.64);
}

static void swings(void **state)
{
    (void)state;
    struct hx_collective_model m = model(HX_ALL_REDUCE, HX_BY_SWING);
    m.hop = 1;
    assert_true(fabs(hx_model_seconds(&m) - 2 * (4 * 3 + 2 + 1 + 0.5 + 0.25)) < 1e-6);
    m.columns = m.rows = 8; /* two further steps, to a distance of three */
    assert_true(fabs(hx_model_seconds(&m) - 2 * (6 * 3 + 2 * 2 + 2 + 1 + 0.5 + 0.25 + 3 * 0.125 + 3 * 0.0625)) < 1e-6);
    m.algorithm = HX_BY_SWING_DOUBLING;
    assert_true(fabs(hx_model_seconds(&m) - (6 * 3 + 2 * 2 + 4 * 4 + 2 * 3 * 4)) < 1e-6);
}

static void hierarchies(void **state)
{
    (void)state;
    const struct hx_model_dimension d[] = {{4, HX_BY_RING, .rate = 100, .alpha = 3},
                                           {2, HX_BY_DIRECT, .rate = 50, .alpha = 1}};
    assert_true(fabs(hx_model_hierarchy(d, 2, 1600, 1) - (18 + 24 + 2 + 8)) < 1e-6);
    assert_true(fabs(hx_model_hierarchy(d, 2, 1600, 4) - (18 + 24)) < 1e-6);
    /* All chunks out in the first dimension, the last through the rest. */
    const struct hx_model_dimension slow[] = {d[0], {2, HX_BY_DIRECT, .rate = 50, .alpha = 20}};
    assert_true(fabs(hx_model_hierarchy(slow, 2, 1600, 2) - (18 + 12 + 40 + 4 + 6)) < 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_of_one_link),
        cmocka_unit_test(sixteen_accelerators),
        cmocka_unit_test(large_vectors_come_near_half_of_injection),
        cmocka_unit_test(at_a_switch),
        cmocka_unit_test(pipelines),
        cmocka_unit_test(swings),
        cmocka_unit_test(hierarchies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
