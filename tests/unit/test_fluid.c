/* test_fluid.c - flows in time (tools/circuits/fluid.h): rates are max-min fair, and bytes are kept. */
#include "base/rng.h"
#include "tools/circuits/fluid.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%.12g, expected %.12g", value, expected);
}

/* Two flows share link 0, one of them goes on over the slower link 1. */
static void what_a_slow_link_leaves_free_goes_to_others(void **state)
{
    (void)state;
    static const struct fluid_share one[] = {{0, 1}}, two[] = {{0, 1}, {1, 1}};
    struct fluid *f = fluid_new(2, 0);
    fluid_set_rate(f, 0, 10);
    fluid_set_rate(f, 1, 2);
    const uint32_t a = fluid_add(f, one, 1, 40), b = fluid_add(f, two, 2, 20);
    near(fluid_speed(f, a), 8);
    near(fluid_speed(f, b), 2);
    near(fluid_advance(f, 1), 1);
    near(fluid_left(f, a), 32);
    near(fluid_advance(f, INFINITY), 4);
    near(fluid_left(f, a), 0);
    near(fluid_left(f, b), 10);
    near(fluid_advance(f, INFINITY), 5);
    assert_int_equal(fluid_open(f), 0);
    fluid_free(f);
}

static void a_flow_on_a_dark_link_waits(void **state)
{
    (void)state;
    static const struct fluid_share over_0[] = {{0, 1}}, over_1[] = {{1, 0.5}};
    struct fluid *f = fluid_new(2, 0);
    fluid_set_rate(f, 1, 3);
    const uint32_t a = fluid_add(f, over_0, 1, 12);
    assert_true(isinf(fluid_advance(f, INFINITY)));
    near(fluid_advance(f, 7), 7);
    near(fluid_left(f, a), 12);
    fluid_turn(f, a, over_1, 1);
    near(fluid_advance(f, INFINITY), 2);
    fluid_remove(f, a);
    assert_int_equal(fluid_add(f, over_1, 1, 1), a);
    fluid_turn(f, a, over_1, 0);
    assert_true(isinf(fluid_advance(f, INFINITY)));
    fluid_free(f);
}

static void ends_within_the_grain_are_one_event(void **state)
{
    (void)state;
    static const struct fluid_share share[] = {{0, 1}, {1, 1}, {2, 1}};
    struct fluid *f = fluid_new(3, 0.5);
    for (uint32_t i = 0; i < 3; i++) {
        fluid_set_rate(f, i, 1);
        (void)fluid_add(f, &share[i], 1, 1 + 0.4 * i);
    }
    near(fluid_advance(f, INFINITY), 1.4);
    assert_int_equal(fluid_open(f), 1);
    near(fluid_advance(f, INFINITY), 0.4);
    fluid_free(f);
}

enum { LINKS = 12, FLOWS = 30, MOST_SHARES = 4 };

struct draw {
    struct fluid_share share[FLOWS][MOST_SHARES];
    uint32_t shares[FLOWS];
    double rate[LINKS], bytes[FLOWS];
};

/* Shares are over different links. */
static void draw(struct draw *d, uint64_t seed)
{
    uint64_t rng = seed;
    for (uint32_t l = 0; l < LINKS; l++)
        d->rate[l] = 1 + hx_rng_below(&rng, 10);
    for (uint32_t i = 0; i < FLOWS; i++) {
        const uint32_t first = hx_rng_below(&rng, LINKS);
        d->shares[i] = 1 + hx_rng_below(&rng, MOST_SHARES);
        d->bytes[i] = 1 + hx_rng_below(&rng, 100);
        for (uint32_t s = 0; s < d->shares[i]; s++)
            d->share[i][s] = (struct fluid_share){(first + s * 5) % LINKS, 1.0 / (1 + hx_rng_below(&rng, 3))};
    }
}

/* No link carries more than its rate; each flow has a full link on which none is faster. */
static void check_fair(struct fluid *f, const struct draw *d)
{
    double carried[LINKS] = {0}, fastest[LINKS] = {0};
    for (uint32_t i = 0; i < FLOWS; i++) {
        for (uint32_t s = 0; s < d->shares[i]; s++) {
            const uint32_t l = d->share[i][s].link;
            carried[l] += d->share[i][s].share * fluid_speed(f, i);
            fastest[l] = fmax(fastest[l], fluid_speed(f, i));
        }
    }
    for (uint32_t l = 0; l < LINKS; l++)
        assert_true(carried[l] <= d->rate[l] * (1 + 1e-9));
    for (uint32_t i = 0; i < FLOWS; i++) {
        bool held = !(fluid_left(f, i) > 0);
        for (uint32_t s = 0; s < d->shares[i]; s++) {
            const uint32_t l = d->share[i][s].link;
            held = held || (carried[l] >= d->rate[l] * (1 - 1e-9) && fluid_speed(f, i) >= fastest[l] * (1 - 1e-9));
        }
        assert_true(held);
    }
}

static void rates_are_max_min_fair_until_all_is_sent(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct draw d;
        double sent[FLOWS] = {0};
        struct fluid *f = fluid_new(LINKS, 0);
        draw(&d, seed);
        for (uint32_t l = 0; l < LINKS; l++)
            fluid_set_rate(f, l, d.rate[l]);
        for (uint32_t i = 0; i < FLOWS; i++)
            assert_int_equal(fluid_add(f, d.share[i], d.shares[i], d.bytes[i]), i);
        while (fluid_open(f)) {
            double speed[FLOWS];
            check_fair(f, &d);
            for (uint32_t i = 0; i < FLOWS; i++)
                speed[i] = fluid_speed(f, i);
            const double step = fluid_advance(f, INFINITY);
            for (uint32_t i = 0; i < FLOWS; i++)
                sent[i] += speed[i] * step;
        }
        for (uint32_t i = 0; i < FLOWS; i++)
            near(sent[i], d.bytes[i]);
        fluid_free(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_slow_link_leaves_free_goes_to_others),
        cmocka_unit_test(a_flow_on_a_dark_link_waits),
        cmocka_unit_test(ends_within_the_grain_are_one_event),
        cmocka_unit_test(rates_are_max_min_fair_until_all_is_sent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
