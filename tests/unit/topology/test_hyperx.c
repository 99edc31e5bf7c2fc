/* test_hyperx.c - HyperX: counts, every link against coordinates, routes, VCs and refusals. */
#include "tests/support/support_fabric.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Number of coordinates in which two routers differ. */
static unsigned differing(const unsigned *side, unsigned sides, uint32_t a, uint32_t b)
{
    unsigned count = 0;
    for (unsigned i = 0; i < sides; i++) {
        count += a % side[i] != b % side[i];
        a /= side[i];
        b /= side[i];
    }
    return count;
}

struct shape {
    const char *text;
    unsigned side[4], sides;
    unsigned p, vcs;
};

static void validate(const struct shape *s)
{
    struct hx_fabric f;
    fabric_make(&f, s->text);
    uint32_t routers = f.nodes - f.hosts;
    assert_int_equal(f.hosts, routers * s->p);
    assert_int_equal(f.vcs, s->vcs);
    for (uint32_t a = 0; a < routers; a++)
        for (uint32_t b = 0; b < routers; b++)
            assert_int_equal(fabric_links_between(&f, f.hosts + a, f.hosts + b),
                             differing(s->side, s->sides, a, b) == 1);
    struct fabric_findings found = fabric_validate(&f);
    assert_int_equal(found.diameter, s->sides + 2);
    assert_int_equal(found.missing, 0); /* every minimal path is offered */
    for (uint32_t from = 0; from < f.hosts; from++)
        for (uint32_t to = 0; to < f.hosts; to++)
            assert_int_equal(f.topology->distance(&f, from, to),
                             from == to ? 0 : 2 + differing(s->side, s->sides, from / s->p, to / s->p));
    hx_fabric_free(&f);
}

static void test_every_link_and_path(void **state)
{
    static const struct shape shapes[] = {
        {"hyperx 8 p=4", {8}, 1, 4, 1},           {"hyperx 5x4 p=3", {5, 4}, 2, 3, 2},
        {"HyperX 4x4", {4, 4}, 2, 4, 2},          {"hyperx 3x4x5 p=2", {3, 4, 5}, 3, 2, 3},
        {"hyperx 2x2x2 p=1", {2, 2, 2}, 3, 1, 3}, {"hyperx 3x2x4x3 p=2", {3, 2, 4, 3}, 4, 2, 4},
    };
    (void)state;
    for (unsigned i = 0; i < sizeof shapes / sizeof *shapes; i++)
        validate(&shapes[i]);
}

/* The grid of routers with 62 links that the HammingMesh authors simulated as a HyperX. */
static void test_grid_of_62_links(void **state)
{
    struct hx_fabric f;
    (void)state;
    fabric_make(&f, "hyperx 32x32 p=1");
    assert_int_equal(f.hosts, 1024);
    assert_int_equal(f.nodes, 2048);
    for (uint32_t router = f.hosts; router < f.nodes; router++)
        assert_int_equal(hx_fabric_ports(&f, router), 63);
    assert_int_equal(fabric_cables(&f, HX_DAC), 1024 + 32 * 32 * 31 / 2);
    assert_int_equal(fabric_cables(&f, HX_AOC), 32 * 32 * 31 / 2);
    assert_int_equal(f.digits[0], 1024);
    assert_int_equal(f.digits[1], 1);
    assert_true(f.topology->alltoall_bound(&f) == 1);
    assert_int_equal(f.topology->bisection(&f), 32 * 16 * 16);
    assert_int_equal(fabric_validate_some(&f, 101).missing, 0);
    hx_fabric_free(&f);
}

/* More than 2,048 routers: tables use halves of the dimensions. */
static void test_digits_of_many_routers(void **state)
{
    struct hx_fabric f;
    (void)state;
    fabric_make(&f, "hyperx 16x16x16 p=4");
    assert_int_equal(f.hosts, 16384);
    assert_int_equal(f.digits[0], 256);
    assert_int_equal(f.digits[1], 64);
    assert_int_equal(fabric_validate_some(&f, 5003).missing, 0);
    hx_fabric_free(&f);
    fabric_make(&f, "hyperx 8x8x8x8 p=4");
    assert_int_equal(fabric_validate_some(&f, 5003).missing, 0);
    hx_fabric_free(&f);
}

/* With as many hosts per router as routers in a row, all-to-all just fills each link. */
static void test_shares(void **state)
{
    struct hx_fabric f;
    (void)state;
    fabric_make(&f, "hyperx 8x8 p=8"); /* 8 hosts over a link to an eighth of 511 others: 8 * 64 / 511 */
    double bound = f.topology->alltoall_bound(&f);
    assert_true(bound > 511.0 / 512 - 1e-9 && bound < 511.0 / 512 + 1e-9);
    hx_fabric_free(&f);
    fabric_make(&f, "hyperx 8x8 p=16");
    bound = f.topology->alltoall_bound(&f);
    assert_true(bound > 1023.0 / 2048 - 1e-9 && bound < 1023.0 / 2048 + 1e-9);
    hx_fabric_free(&f);
}

static void test_impossible_arguments_are_refused(void **state)
{
    (void)state;
    fabric_refused("hyperx", "one to four sizes are needed");
    fabric_refused("hyperx 8x1", "a side of 1: 2 to 64");
    fabric_refused("hyperx 40x32", "70 links and a host: they have 64 ports, so that the sides can be 7 less in all");
    fabric_refused("hyperx 32x32 p=3", "3 hosts do not fit beside 62 links of a router of 64 ports; p=2 does");
    fabric_refused("hyperx 8x8 q=3", "unknown key 'q'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_link_and_path),
        cmocka_unit_test(test_grid_of_62_links),
        cmocka_unit_test(test_digits_of_many_routers),
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_impossible_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
