/* test_peers.c - patterns with a few fixed partners per host: their order, and equal load of all receivers. */
#include "workload/traffic.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct hx_spec spec;
static const struct hx_fabric *g;
static struct traffic t;

static void start(const char *fabric, unsigned pattern)
{
    struct hx_settings settings = hx_default_settings;
    settings.pattern = pattern;
    hx_spec_load(fabric, NULL, &spec);
    g = hx_spec_fabric(&spec);
    traffic_init(&t, &spec, g, &settings, NULL);
}

static void done(void)
{
    traffic_free(&t);
    hx_spec_free(&spec);
}

static void goes_to(uint32_t rank, const uint32_t *expected, unsigned n)
{
    assert_int_equal(traffic_destinations(&t, rank), n);
    assert_int_equal(traffic_messages(&t, rank), n);
    for (uint64_t message = 0; message < 3 * (uint64_t)n; message++)
        assert_int_equal(traffic_destination(&t, rank, message), expected[message % n]);
}

/* No host sends to itself; every host that receives anything receives equally many messages. */
static void require_equal_receipt(unsigned receivers)
{
    uint32_t *got = hx_allocate(g->hosts, sizeof *got);
    for (uint64_t message = 0; message < 12; message++) {
        memset(got, 0, g->hosts * sizeof *got);
        unsigned some = 0;
        for (uint32_t rank = 0; rank < g->hosts; rank++) {
            if (!traffic_destinations(&t, rank))
                continue;
            uint32_t to = traffic_destination(&t, rank, message);
            assert_int_not_equal(to, rank);
            some += !got[to];
            got[to]++;
            assert_int_equal(got[to], 1);
            assert_true(traffic_peers(&t, rank) < g->hosts);
            assert_true(traffic_peers(&t, rank) >= traffic_destinations(&t, rank));
        }
        assert_int_equal(some, receivers);
    }
    free(got);
}

/* ---- worst-case ---- */

/* Routers in a circle, three hosts each: a host sends to those of the next router in turn, from its own position on. */
static void hosts_of_the_next_router(void **state)
{
    (void)state;
    start("mlfm h=3", HX_WORST_CASE);
    goes_to(0, (const uint32_t[]){3, 4, 5}, 3);
    goes_to(4, (const uint32_t[]){7, 8, 6}, 3);
    goes_to(35, (const uint32_t[]){2, 0, 1}, 3);
    assert_int_equal(traffic_peers(&t, 4), 6);
    assert_int_equal(traffic_messages_between(&t, 4, 8), 1);
    assert_int_equal(traffic_messages_between(&t, 4, 9), 0);
    require_equal_receipt(36);
    done();
}

static void one_host_per_attachment_router(void **state)
{
    (void)state;
    start("3x2 Hx2Mesh", HX_WORST_CASE);
    for (uint32_t rank = 0; rank < g->hosts; rank++)
        assert_int_equal(traffic_destinations(&t, rank), 1);
    require_equal_receipt(24);
    done();
}

/* Hosts of the two failed routers neither send nor receive; the other pairs are searched again. */
static void routers_that_failed(void **state)
{
    (void)state;
    struct hx_settings settings = hx_default_settings;
    settings.pattern = HX_WORST_CASE;
    hx_spec_load("mlfm h=3", NULL, &spec);
    g = hx_spec_fabric(&spec);
    spec.failed = hx_allocate(hx_spec_boards(&spec), sizeof *spec.failed);
    for (unsigned host = 0; host < 3; host++)
        spec.failed[3 + host] = spec.failed[21 + host] = true;
    traffic_init(&t, &spec, g, &settings, NULL);
    for (uint32_t rank = 0; rank < g->hosts; rank++)
        assert_int_equal(traffic_destinations(&t, rank), rank / 3 == 1 || rank / 3 == 7 ? 0 : 3);
    for (uint32_t rank = 0; rank < g->hosts; rank++)
        for (uint64_t m = 0; m < traffic_messages(&t, rank); m++)
            assert_true(traffic_destinations(&t, traffic_destination(&t, rank, m)));
    require_equal_receipt(30);
    done();
}

static void one_router_has_no_pair(void **state)
{
    (void)state;
    struct hx_settings settings = hx_default_settings;
    struct hx_problem problem;
    settings.pattern = HX_WORST_CASE;
    hx_spec_load("fat-tree hosts=8 radix=16", NULL, &spec);
    assert_false(traffic_check(&spec, hx_spec_fabric(&spec), &settings, &problem));
    assert_string_equal(problem.what, "worst-case goes from router to router, and fat-tree hosts=8 radix=16 has one "
                                      "(permutation or uniform go on any)");
    assert_int_equal(problem.exit_code, HX_EXIT_USAGE);
    settings.pattern = HX_UNIFORM;
    assert_true(traffic_check(&spec, hx_spec_fabric(&spec), &settings, &problem));
    hx_spec_free(&spec);
}

/* ---- neighbours on a torus of three dimensions ---- */

static void sides_are(uint32_t n, uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t side[3];
    peers_torus(n, side);
    assert_int_equal(side[0], a);
    assert_int_equal(side[1], b);
    assert_int_equal(side[2], c);
}

/* The largest of a <= b <= c <= 2 a, by trying every triple. The last three are those of SC15. */
static void the_largest_torus(void **state)
{
    (void)state;
    for (uint32_t n = 1; n < 300; n++) {
        uint32_t side[3];
        uint32_t most = 0;
        for (uint32_t a = 1; a <= n; a++)
            for (uint32_t b = a; b <= 2 * a; b++)
                for (uint32_t c = b; c <= 2 * a && a * b * c <= n; c++)
                    most = a * b * c > most ? a * b * c : most;
        peers_torus(n, side);
        assert_int_equal(side[0] * side[1] * side[2], most);
        assert_true(side[0] <= side[1] && side[1] <= side[2] && side[2] <= 2 * side[0]);
    }
    sides_are(1, 1, 1, 1);
    sides_are(64, 4, 4, 4);
    sides_are(16384, 16, 32, 32);
    sides_are(3042, 13, 13, 18);
    sides_are(3600, 15, 15, 16);
    sides_are(3192, 12, 14, 19);
}

static void turned(const char *fabric, uint32_t a, uint32_t b, uint32_t c)
{
    hx_spec_load(fabric, NULL, &spec);
    g = hx_spec_fabric(&spec);
    uint32_t side[3];
    peers_torus(g->hosts, side);
    peers_turn_torus(g, side);
    assert_int_equal(side[0], a);
    assert_int_equal(side[1], b);
    assert_int_equal(side[2], c);
    hx_spec_free(&spec);
}

/* Which sides fit follows by hand from hosts per router and routers per row. */
static void a_torus_fits_the_routers(void **state)
{
    (void)state;
    turned("mlfm h=15", 15, 16, 15);         /* lines of a router's 15, layers of a row's 16 * 15 */
    turned("mlfm h=6", 6, 7, 6);             /* lines of a router's 6, layers of a row's 7 * 6 */
    turned("slim-fly q=5 p=3", 6, 5, 5);     /* 6 is twice 3, 30 twice 5 * 3; 5 fits neither */
    turned("slim-fly q=13 p=9", 18, 13, 13); /* twice 9, twice 13 * 9 */
    turned("oft k=12", 12, 14, 19);          /* 12; rows are not named */
    turned("fat-tree hosts=64 radix=16", 4, 4, 4);
    turned("8x4 Hx2Mesh", 4, 4, 8);                /* no routers with hosts: the shortest first */
    turned("fat-tree hosts=60 radix=16", 3, 4, 5); /* the last leaf has fewer hosts: the shortest first */
}

/* 36 hosts on routers, three each, four routers a layer: a torus of 3 x 4 x 3. */
static void neighbours_by_rank(void **state)
{
    (void)state;
    start("mlfm h=3", HX_NEIGHBOUR_3D);
    goes_to(0, (const uint32_t[]){1, 2, 3, 9, 12, 24}, 6);
    goes_to(35, (const uint32_t[]){33, 34, 26, 32, 11, 23}, 6);
    assert_int_equal(traffic_peers(&t, 0), 12);
    require_equal_receipt(36);
    done();
}

/* A side of two has one neighbour; a host beyond the torus has none. By rank, although a job's grid goes column by
 * column. */
static void short_sides_and_leftovers(void **state)
{
    (void)state;
    start("3x3 Hx1Mesh", HX_NEIGHBOUR_3D); /* 2 x 2 x 2 */
    goes_to(0, (const uint32_t[]){1, 2, 4}, 3);
    goes_to(5, (const uint32_t[]){4, 7, 1}, 3);
    assert_int_equal(traffic_messages(&t, 8), 0);
    require_equal_receipt(8);
    done();
    start("1x1 Hx1Mesh", HX_NEIGHBOUR_3D);
    assert_int_equal(traffic_messages(&t, 0), 0);
    done();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_of_the_next_router), cmocka_unit_test(one_host_per_attachment_router),
        cmocka_unit_test(routers_that_failed),      cmocka_unit_test(one_router_has_no_pair),
        cmocka_unit_test(the_largest_torus),        cmocka_unit_test(a_torus_fits_the_routers),
        cmocka_unit_test(neighbours_by_rank),       cmocka_unit_test(short_sides_and_leftovers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
