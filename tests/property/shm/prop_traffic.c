/* prop_traffic.c - every traffic pattern stays in its job, has the configured length, and follows from its seed, on
 * many shapes, with jobs and failed boards. */
#include "tests/support/shm/support_ground.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* ---- every pattern ---- */

static void stays_in_its_job(const struct ground *g)
{
    for (unsigned pattern = 0; pattern < HX_PATTERNS; pattern++) {
        struct traffic t = ground_traffic(g, pattern, g->seed, g->n / 2);
        for (unsigned rank = 0; rank < g->n; rank++) {
            uint64_t messages = traffic_messages(&t, rank);
            assert_true(g->alive[rank] || messages == 0);
            assert_true(messages % GROUND_MESSAGES == 0);
            for (uint64_t m = 0; m < messages; m++)
                assert_true(ground_may_talk(g, rank, traffic_destination(&t, rank, m)));
        }
        traffic_free(&t);
    }
}

static void every_pattern_stays_in_its_job(void **state)
{
    (void)state;
    ground_each(stays_in_its_job);
}

static void lasts_for_a_duration(const struct ground *g)
{
    for (unsigned pattern = 0; pattern < HX_PATTERNS; pattern++) {
        struct traffic counted = ground_traffic(g, pattern, g->seed, 0);
        struct hx_settings s = ground_settings(pattern, g->seed);
        s.duration_ns = 1;
        struct traffic timed;
        traffic_init(&timed, &g->f.spec, g->f.g, &s, NULL);
        for (unsigned rank = 0; rank < g->n; rank++) {
            uint64_t messages = traffic_messages(&counted, rank);
            assert_true(traffic_messages(&timed, rank) == (messages ? UINT64_MAX : 0));
            for (uint64_t m = 0; m < messages; m++)
                assert_int_equal(traffic_destination(&timed, rank, m), traffic_destination(&counted, rank, m));
        }
        traffic_free(&timed);
        traffic_free(&counted);
    }
}

static void a_duration_does_not_limit_messages(void **state)
{
    (void)state;
    ground_each(lasts_for_a_duration);
}

/* Hash of the first destinations of all hosts. */
static uint64_t fingerprint(const struct ground *g, enum hx_pattern pattern, uint64_t seed)
{
    struct traffic t = ground_traffic(g, pattern, seed, 0);
    uint64_t print = 0;
    for (unsigned rank = 0; rank < g->n; rank++) {
        for (uint64_t m = 0; m < traffic_messages(&t, rank); m++)
            print = (print ^ traffic_destination(&t, rank, m)) * UINT64_C(1099511628211);
    }
    traffic_free(&t);
    return print;
}

static void the_seed_decides(void **state)
{
    (void)state;
    ground_open("4x4 Hx2Mesh", 0);
    for (unsigned pattern = 0; pattern < HX_PATTERNS; pattern++) {
        bool is_random = pattern == HX_ALL_TO_ALL_RANDOM || pattern == HX_UNIFORM || pattern == HX_PERMUTATION ||
                         pattern == HX_BISECTION || pattern == HX_HOTSPOT || pattern == HX_WORST_CASE;
        uint64_t first = fingerprint(&ground, pattern, 1);
        assert_true(first == fingerprint(&ground, pattern, 1));
        for (uint64_t seed = 2; seed < 12; seed++)
            assert_true((fingerprint(&ground, pattern, seed) == first) == !is_random);
    }
    ground_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        GROUND_TEST(every_pattern_stays_in_its_job),
        GROUND_TEST(a_duration_does_not_limit_messages),
        GROUND_TEST(the_seed_decides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
