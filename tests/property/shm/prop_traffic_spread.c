/* prop_traffic_spread.c - traffic to all hosts: all-to-all reaches each host of the job once a pass, uniform is
 * uniform, hotspots have their share; on many shapes, with jobs and failed boards. */
#include "tests/support/shm/support_ground.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* ---- all to all ---- */

/* In each of `times` passes over the others, each is the destination once. */
static void is_everyone_once(const struct ground *g, const struct traffic *t, unsigned rank, unsigned times)
{
    unsigned expected = ground_others(g, rank);
    assert_true(traffic_messages(t, rank) == (uint64_t)expected * GROUND_MESSAGES);
    for (unsigned time = 0; time < times; time++) {
        bool seen[GROUND_MOST] = {false};
        for (unsigned m = 0; m < expected; m++) {
            uint32_t to = traffic_destination(t, rank, (uint64_t)time * expected + m);
            assert_true(ground_may_talk(g, rank, to));
            assert_false(seen[to]);
            seen[to] = true;
        }
    }
}

static void shifts_in_rounds(const struct ground *g)
{
    struct traffic t = ground_traffic(g, HX_ALL_TO_ALL, g->seed, 0);
    for (unsigned rank = 0; rank < g->n; rank++) {
        if (g->alive[rank])
            is_everyone_once(g, &t, rank, GROUND_MESSAGES);
    }
    /* In a phase no host is the destination of two: so the shift is balanced. */
    for (unsigned round = 0; round < 2 * g->n; round++) {
        bool taken[GROUND_MOST] = {false};
        for (unsigned rank = 0; rank < g->n; rank++) {
            if (ground_others(g, rank) == 0)
                continue;
            uint32_t to = traffic_destination(&t, rank, round);
            assert_false(taken[to]);
            taken[to] = true;
        }
    }
    traffic_free(&t);
}

static void all_to_all_shifts(void **state)
{
    (void)state;
    ground_each(shifts_in_rounds);
}

static void visits_in_random_order(const struct ground *g)
{
    struct traffic t = ground_traffic(g, HX_ALL_TO_ALL_RANDOM, g->seed, 0);
    for (unsigned rank = 0; rank < g->n; rank++) {
        if (g->alive[rank])
            is_everyone_once(g, &t, rank, GROUND_MESSAGES);
    }
    traffic_free(&t);
}

/* How often two sources, or two passes of one, are at the same distance in the same step. */
static unsigned alike(const struct traffic *t, unsigned n, unsigned rank, unsigned other, unsigned time)
{
    unsigned same = 0;
    for (unsigned m = 0; m < n - 1; m++) {
        unsigned from = t->place[rank];
        unsigned from_other = t->place[other];
        unsigned step = (t->place[traffic_destination(t, rank, m)] + n - from) % n;
        unsigned step_other =
            (t->place[traffic_destination(t, other, (uint64_t)time * (n - 1) + m)] + n - from_other) % n;
        same += step == step_other;
    }
    return same;
}

static void all_to_all_has_an_order_per_source_and_pass(void **state)
{
    (void)state;
    ground_each(visits_in_random_order);
    ground_open("4x4 Hx2Mesh", 0);
    struct traffic t = ground_traffic(&ground, HX_ALL_TO_ALL_RANDOM, ground.seed, 0);
    for (unsigned rank = 0; rank + 1 < ground.n; rank++) {
        assert_true(alike(&t, ground.n, rank, rank + 1, 0) < ground.n / 4);
        assert_true(alike(&t, ground.n, rank, rank, 1) < ground.n / 4);
    }
    traffic_free(&t);
    ground_close();
}

/* ---- uniform ---- */

static void uniform_reaches_every_host(void **state)
{
    (void)state;
    enum { DRAWS = 400 };
    ground_open("3x2 Hx2Mesh", 0);
    struct traffic t = ground_traffic(&ground, HX_UNIFORM, ground.seed, 0);
    unsigned hits[GROUND_MOST] = {0};
    for (unsigned rank = 0; rank < ground.n; rank++) {
        unsigned own[GROUND_MOST] = {0};
        for (uint64_t m = 0; m < (uint64_t)DRAWS * (ground.n - 1); m++) {
            uint32_t to = traffic_destination(&t, rank, m);
            own[to]++;
            hits[to]++;
        }
        for (unsigned to = 0; to < ground.n; to++) /* mean 400, standard deviation below 20 */
            assert_true(to == rank ? own[to] == 0 : own[to] > DRAWS - 120 && own[to] < DRAWS + 120);
    }
    for (unsigned to = 0; to < ground.n; to++) /* mean 9200, standard deviation below 96 */
        assert_true(hits[to] > 23 * DRAWS - 600 && hits[to] < 23 * DRAWS + 600);
    traffic_free(&t);
    ground_close();
}

/* ---- hotspots ---- */

enum { DRAWN = 4000 };

/* A share of the possible traffic to a target goes there, equally to each target; the rest is uniform. */
static void two_are_hot(const struct ground *g)
{
    struct hx_settings s = ground_settings(HX_HOTSPOT, g->seed);
    struct hx_coordinate last = hx_address_of(g->f.g, g->n - 1);
    s.target = (struct hx_coordinates){2, {{0, 0}, {last.addr_hi, last.addr_lo}}};
    s.hotspot = 0.4;
    s.count = DRAWN;
    struct traffic t;
    traffic_init(&t, &g->f.spec, g->f.g, &s, NULL);
    for (unsigned rank = 0; rank < g->n; rank += g->n / 4 + 1) {
        unsigned n = ground_others(g, rank);
        unsigned mine = g->n == 1 ? 0 : ground_may_talk(g, rank, 0) + ground_may_talk(g, rank, g->n - 1);
        unsigned met[GROUND_MOST] = {0};
        for (unsigned m = 0; n && m < DRAWN; m++)
            met[traffic_destination(&t, rank, m)]++;
        for (unsigned to = 0; n && to < g->n; to++) {
            if (!ground_may_talk(g, rank, to))
                continue;
            double hot = mine ? 0.4 : 0;
            double expected = (1 - hot) / n + (to == 0 || to == g->n - 1 ? hot / mine : 0);
            double spread = 5 * sqrt(expected * (1 - expected) / DRAWN);
            assert_true(fabs((double)met[to] / DRAWN - expected) <= spread + 1e-9);
        }
    }
    traffic_free(&t);
}

static void hotspots_have_their_share(void **state)
{
    (void)state;
    ground_each(two_are_hot);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        GROUND_TEST(all_to_all_shifts),
        GROUND_TEST(all_to_all_has_an_order_per_source_and_pass),
        GROUND_TEST(uniform_reaches_every_host),
        GROUND_TEST(hotspots_have_their_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
