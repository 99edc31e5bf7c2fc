/* prop_traffic_partners.c - traffic with fixed partners: permutation, bisection, neighbours, incast, on many shapes,
 * with jobs and failed boards. */
#include "tests/support/shm/support_ground.h"
#include "topology/bisection.h"

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

/* Partners are of one job and in different halves of it, which differ by one host at most. */
static void pairs_the_halves_of_a_job(const struct ground *g, const struct traffic *t, unsigned first)
{
    bool member[GROUND_MOST];
    uint8_t half[GROUND_MOST * 4] = {0};
    unsigned of_half[2] = {0, 0};
    unsigned senders = 0;
    assert_true(t->g->nodes <= sizeof half);
    for (unsigned rank = 0; rank < g->n; rank++)
        member[rank] = rank == first || ground_may_talk(g, first, rank);
    (void)hx_bisection_search(t->g, member, half);
    for (unsigned rank = 0; rank < g->n; rank++) {
        if (!member[rank])
            continue;
        of_half[half[rank]]++;
        if (traffic_messages(t, rank) == 0)
            continue;
        uint32_t to = traffic_destination(t, rank, 0);
        assert_true(traffic_messages(t, rank) == GROUND_MESSAGES);
        assert_true(member[to] && half[to] != half[rank]);
        assert_int_equal(traffic_destination(t, to, 0), rank);
        assert_int_equal(traffic_destination(t, rank, 7), to);
        senders++;
    }
    unsigned lesser = of_half[0] < of_half[1] ? of_half[0] : of_half[1];
    assert_int_equal(senders, 2 * lesser);
    assert_true(of_half[0] + of_half[1] - 2 * lesser <= 1);
}

static bool is_first_of_its_job(const struct ground *g, unsigned rank)
{
    unsigned earlier = 0;
    while (earlier < rank && !ground_may_talk(g, earlier, rank))
        earlier++;
    return g->alive[rank] && earlier == rank;
}

static void pairs_the_halves(const struct ground *g)
{
    for (uint64_t seed = 0; seed < 2; seed++) {
        struct traffic t = ground_traffic(g, HX_BISECTION, seed, 0);
        for (unsigned rank = 0; rank < g->n; rank++) {
            if (is_first_of_its_job(g, rank))
                pairs_the_halves_of_a_job(g, &t, rank);
            else if (!g->alive[rank])
                assert_true(traffic_messages(&t, rank) == 0);
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
