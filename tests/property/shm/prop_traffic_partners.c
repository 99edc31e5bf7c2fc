/* prop_traffic_partners.c - traffic with fixed partners: permutation, bisection, neighbours, incast, on many shapes,
 * with jobs and failed boards. */
#include "tests/support/shm/support_ground.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* ---- partners ---- */

static void is_one_to_one(const struct ground *g)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct traffic t = ground_traffic(g, HX_PERMUTATION, seed, 0);
        bool taken[GROUND_MOST] = {false};
        for (unsigned rank = 0; rank < g->n; rank++) {
            bool sends = g->alive[rank] && ground_others(g, rank);
            assert_true(traffic_messages(&t, rank) == (sends ? GROUND_MESSAGES : 0));
            if (!sends)
                continue;
            uint32_t to = traffic_destination(&t, rank, 0);
            assert_int_not_equal(to, rank);
            assert_false(taken[to]);
            taken[to] = true;
            for (uint64_t m = 1; m < 10; m++)
                assert_int_equal(traffic_destination(&t, rank, m), to);
        }
        traffic_free(&t);
    }
}

static void permutation_is_one_to_one_without_fixed_points(void **state)
{
    (void)state;
    ground_each(is_one_to_one);
}

/* Number of its job's hosts to the west, or in its column to the north. */
static unsigned westerners(const struct ground *g, unsigned rank)
{
    unsigned columns = g->f.spec.a * g->f.spec.x;
    unsigned sum = 0;
    for (unsigned other = 0; other < g->n; other++) {
        bool west = other % columns < rank % columns || (other % columns == rank % columns && other < rank);
        sum += west && ground_may_talk(g, rank, other);
    }
    return sum;
}

static void pairs_the_halves(const struct ground *g)
{
    for (uint64_t seed = 0; seed < 10; seed++) {
        struct traffic t = ground_traffic(g, HX_BISECTION, seed, 0);
        for (unsigned rank = 0; rank < g->n; rank++) {
            unsigned members = ground_others(g, rank) + 1;
            unsigned at = westerners(g, rank);
            bool west = at < members / 2;
            bool east = at >= members - members / 2;
            bool sends = g->alive[rank] && (west || east);
            assert_true(traffic_messages(&t, rank) == (sends ? GROUND_MESSAGES : 0));
            if (!sends)
                continue;
            uint32_t to = traffic_destination(&t, rank, 0);
            unsigned partner_at = westerners(g, to);
            assert_true(west ? partner_at >= members - members / 2 : partner_at < members / 2);
            assert_int_equal(traffic_destination(&t, to, 0), rank);
            assert_int_equal(traffic_destination(&t, rank, 7), to);
        }
        traffic_free(&t);
    }
}

static void bisection_pairs_the_halves(void **state)
{
    (void)state;
    ground_each(pairs_the_halves);
}

/* ---- neighbours, incast ---- */

static void is_the_torus(const struct ground *g)
{
    struct traffic t = ground_traffic(g, HX_NEIGHBOUR, g->seed, 0);
    unsigned columns = g->f.spec.a * g->f.spec.x;
    unsigned rows = g->n / columns;
    for (unsigned rank = 0; rank < g->n; rank++) {
        unsigned row = rank / columns;
        unsigned column = rank % columns;
        const unsigned torus[4] = {row * columns + (column + 1) % columns,
                                   row * columns + (column + columns - 1) % columns,
                                   (row + 1) % rows * columns + column, (row + rows - 1) % rows * columns + column};
        int due[GROUND_MOST] = {0};
        unsigned sum = 0;
        for (unsigned i = 0; i < 4; i++) {
            due[torus[i]] += ground_may_talk(g, rank, torus[i]);
            sum += ground_may_talk(g, rank, torus[i]);
        }
        assert_true(traffic_messages(&t, rank) == (uint64_t)sum * GROUND_MESSAGES);
        for (unsigned time = 0; time < GROUND_MESSAGES; time++) {
            int left[GROUND_MOST];
            memcpy(left, due, sizeof left);
            for (unsigned m = 0; m < sum; m++)
                assert_true(left[traffic_destination(&t, rank, time * sum + m)]-- > 0);
        }
    }
    traffic_free(&t);
}

static void neighbours_are_those_of_the_torus(void **state)
{
    (void)state;
    ground_each(is_the_torus);
}

static void all_meet_at_one(const struct ground *g)
{
    for (unsigned target = 0; target < g->n; target++) {
        struct traffic t = ground_traffic(g, HX_INCAST, g->seed, target);
        for (unsigned rank = 0; rank < g->n; rank++) {
            bool sends = ground_may_talk(g, rank, target);
            assert_true(traffic_messages(&t, rank) == (sends ? GROUND_MESSAGES : 0));
            if (sends)
                assert_int_equal(traffic_destination(&t, rank, target), target);
        }
        traffic_free(&t);
    }
}

static void incast_meets_at_one(void **state)
{
    (void)state;
    ground_each(all_meet_at_one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        GROUND_TEST(permutation_is_one_to_one_without_fixed_points),
        GROUND_TEST(bisection_pairs_the_halves),
        GROUND_TEST(neighbours_are_those_of_the_torus),
        GROUND_TEST(incast_meets_at_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
